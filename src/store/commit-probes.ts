// The table that servers commit to so that they know whether a write would succeed now, and what is asked beside it.
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

/** Rows of the table at most. */
export const probeSlots = 64;

const sessionRow = z.object({
  processId: z.number(),
  startedAt: z.string(),
  isStandby: z.boolean(),
  synchronousCommit: z.string(),
  clientMinMessages: z.string(),
});

/** A session as the database has it. */
export type Session = z.output<typeof sessionRow>;

export function getSession(connection: Connection): Promise<Session> {
  return connection.one(sql.type(sessionRow)`
    SELECT pid AS "processId", backend_start AS "startedAt", pg_is_in_recovery() AS "isStandby",
           current_setting('synchronous_commit') AS "synchronousCommit",
           current_setting('client_min_messages') AS "clientMinMessages"
      FROM pg_stat_activity WHERE pid = pg_backend_pid()`);
}

const waitRow = z.object({ isActive: z.boolean(), waitEvent: z.string().nullable() });

/** What a session does, asked over another one; null where the database does not have it (any more). */
export function findWait(
  connection: Connection,
  { processId, startedAt }: Session,
): Promise<z.output<typeof waitRow> | null> {
  return connection.maybeOne(sql.type(waitRow)`
    SELECT coalesce(state = 'active', false) AS "isActive", wait_event AS "waitEvent"
      FROM pg_stat_activity
     WHERE pid = ${processId}
       AND date_trunc('milliseconds', backend_start) = ${startedAt}::timestamptz`);
}

/** Writes a row that nothing depends on. */
export function upsertCommitProbe(connection: Connection, slot: number): Promise<void> {
  return connection.run(command`
    INSERT INTO commit_probes (slot, probed_at) VALUES (${slot}, clock_timestamp())
    ON CONFLICT (slot) DO UPDATE SET probed_at = EXCLUDED.probed_at`);
}

const spilledRow = z.object({ count: z.number() });

/**
 * Fails with 53100 where the disk of the tables is full. An update in place needs no space there, which is why it does
 * not tell: more rows than memory is given for are put into a file, about 300 KiB, which is gone with the statement.
 */
export async function requireDiskSpace(transaction: Connection): Promise<void> {
  await Promise.all([
    transaction.run(command`SET LOCAL work_mem = '64kB'`),
    transaction.run(command`SET LOCAL temp_tablespaces = ''`),
    transaction.one(sql.type(spilledRow)`SELECT count(*) FROM generate_series(1, 10000)`),
  ]);
}

// The head of each journal, whose lock puts a ledger's entries in order, and the clock that is read behind it.
import * as z from "zod";
import type { Entry } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

const headRow = z.object({
  lastSequence: z.number(),
  lastPersistedAt: timestampColumn.nullable(),
});

/** The ledger's last entry; sequence 0 and null before the first. Every ledger has a head. */
type JournalHead = z.output<typeof headRow>;

const selectHead = sql.fragment`
  SELECT last_sequence AS "lastSequence", last_persisted_at AS "lastPersistedAt" FROM journal_heads`;

/** Lock 2 of 2: the head of the journal, which puts all journal writes of a ledger in order. */
export async function lockJournalHead(
  connection: Connection,
  ledgerId: string,
): Promise<JournalHead> {
  return connection.one(sql.type(headRow)`${selectHead} WHERE ledger_id = ${ledgerId} FOR UPDATE`);
}

/** The head as it stands, without its lock. */
export async function readJournalHead(
  connection: Connection,
  ledgerId: string,
): Promise<JournalHead> {
  return connection.one(sql.type(headRow)`${selectHead} WHERE ledger_id = ${ledgerId}`);
}

const clockRow = z.object({ now: timestampColumn });

/** The database's clock, to the millisecond. Sent behind the locks, it is read after they are held. */
export async function readClock(connection: Connection): Promise<Timestamp> {
  const { now } = await connection.one(sql.type(clockRow)`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now`);
  return now;
}

/** Moves the head to the last entry of a batch. */
export function advanceJournalHead(
  connection: Connection,
  ledgerId: string,
  last: Pick<Entry, "sequence" | "persistedAt">,
): Promise<unknown> {
  return connection.run(command`
    UPDATE journal_heads
       SET last_sequence = ${last.sequence}, last_persisted_at = ${last.persistedAt}
     WHERE ledger_id = ${ledgerId}`);
}

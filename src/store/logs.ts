// The two logs of each ledger: where they stand, their trees, and the leaves that these are made of.
import * as z from "zod";
import type { LogIdentity, LogKind } from "../core/log-origin.ts";
import type { Hash, PerfectSubtree } from "../core/merkle.ts";
import { lockPlace } from "./citus-nodes.ts";
import { countRow, hashColumn, ledgerIdRow, timestampColumn } from "./columns.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";
import type { SequenceRange } from "./journal-spans.ts";

/** Subtrees with fewer leaves than 2^8 are not stored: they are hashed anew from their leaves. */
export const storedLevelMin = 8;

const stateRow = z.object({
  generation: z.number(),
  systemIdentifier: z.string(),
  timeline: z.string(),
  haltedAt: timestampColumn.nullable(),
  haltReason: z.string().nullable(),
});

/** Where a log stands. A log that is halted signs nothing. */
export type LogState = Readonly<z.output<typeof stateRow>>;

/** Where a log stands, or null before its first checkpoint. */
export function findLogState(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<LogState | null> {
  return connection.maybeOne(sql.type(stateRow)`
    SELECT generation, system_identifier AS "systemIdentifier", timeline,
           halted_at AS "haltedAt", halt_reason AS "haltReason"
      FROM log_states WHERE ledger_id = ${ledgerId} AND log = ${log}`);
}

/** Records where a log stands, for the first time or anew. `haltReason` is null where it may be signed. */
export function upsertLogState(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  { systemIdentifier, timeline }: DatabaseIdentity,
  haltReason: string | null,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO log_states
      (ledger_id, log, generation, system_identifier, timeline, halted_at, halt_reason)
    VALUES (
      ${ledgerId},
      ${log},
      ${generation},
      ${systemIdentifier},
      ${timeline},
      CASE WHEN ${haltReason}::text IS NOT NULL THEN statement_timestamp() END,
      ${haltReason})
    ON CONFLICT (ledger_id, log) DO UPDATE
       SET generation = EXCLUDED.generation, system_identifier = EXCLUDED.system_identifier,
           timeline = EXCLUDED.timeline, halted_at = EXCLUDED.halted_at,
           halt_reason = EXCLUDED.halt_reason`);
}

/** Halts a log, unless it is halted already: the first reason stays. */
export function updateLogHalted(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
  reason: string,
): Promise<unknown> {
  return connection.run(command`
    UPDATE log_states SET halted_at = statement_timestamp(), halt_reason = ${reason}
     WHERE ledger_id = ${ledgerId} AND log = ${log} AND halted_at IS NULL`);
}

const databaseRow = z.object({ systemIdentifier: z.string(), timeline: z.string() });

/** Which database it is: another one, or one that was brought back or promoted, has another. */
export type DatabaseIdentity = Readonly<z.output<typeof databaseRow>>;

/** The identity of the database that a connection is to; on Citus, of its coordinator. */
export function readDatabaseIdentity(connection: Connection): Promise<DatabaseIdentity> {
  return connection.one(sql.type(databaseRow)`
    SELECT system_identifier::text AS "systemIdentifier",
           left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS timeline
      FROM pg_control_system()`);
}

const headRow = z.object({
  size: z.number(),
  subtrees: z.instanceof(Buffer),
  signedSize: z.number(),
  signedAt: timestampColumn.nullable(),
  checkpointCount: z.number(),
  cosignatureCount: z.number(),
});

/** The tree of a log so far: its leaves, and the roots of the perfect subtrees that they fall into. */
export interface LogTree {
  readonly size: number;
  readonly subtrees: readonly Hash[];
}

export interface LogHead extends LogTree {
  /** Of the newest checkpoint; 0 before the generation's first. */
  readonly signedSize: number;
  readonly signedAt: Timestamp | null;
  /** Of the generation. */
  readonly checkpointCount: number;
  /** Of all generations. */
  readonly cosignatureCount: number;
}

const selectHead = sql.fragment`
  SELECT size, subtrees, signed_size AS "signedSize", signed_at AS "signedAt",
         checkpoint_count AS "checkpointCount", cosignature_count AS "cosignatureCount"
    FROM log_heads`;

/** Makes the row that `tryLockLogHead` locks. */
export function insertLogHead(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO log_heads
      (ledger_id, log, size, subtrees, signed_size, checkpoint_count, cosignature_count)
    VALUES (${ledgerId}, ${log}, 0, ''::bytea, 0, 0, 0)
    ON CONFLICT (ledger_id, log) DO NOTHING`);
}

/** Locks a log's tree; null where it has none, or somebody else has the lock. */
export async function tryLockLogHead(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<LogHead | null> {
  const [, row] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.maybeOne(sql.type(headRow)`${selectHead}
     WHERE ledger_id = ${ledgerId} AND log = ${log} FOR UPDATE SKIP LOCKED`),
  ]);
  return row && headOf(row);
}

/** The tree of a log as it stands, without its lock; null where it has none. */
export async function findLogHead(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<LogHead | null> {
  const row = await connection.maybeOne(sql.type(headRow)`${selectHead}
     WHERE ledger_id = ${ledgerId} AND log = ${log}`);
  return row && headOf(row);
}

/** As `tryLockLogHead`, but waits for whoever has the lock. */
export async function lockLogHead(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<LogHead | null> {
  const [, row] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.maybeOne(sql.type(headRow)`${selectHead}
     WHERE ledger_id = ${ledgerId} AND log = ${log} FOR UPDATE`),
  ]);
  return row && headOf(row);
}

function headOf({ subtrees, ...row }: z.output<typeof headRow>): LogHead {
  const hashes = Array.from({ length: subtrees.length / 32 }, (_, index) =>
    subtrees.subarray(32 * index, 32 * index + 32),
  );
  return { ...row, subtrees: hashes };
}

/** Moves the tree of a locked log on. */
export function updateLogTree(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
  { size, subtrees }: LogTree,
): Promise<unknown> {
  return connection.run(command`
    UPDATE log_heads
       SET size = ${size}, subtrees = decode(${Buffer.concat(subtrees).toString("hex")}, 'hex')
     WHERE ledger_id = ${ledgerId} AND log = ${log}`);
}

/** Notes the newest checkpoint of a locked log. */
export function updateLogSigned(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
  signed: { readonly size: number; readonly number: number; readonly issuedAt: Timestamp },
): Promise<unknown> {
  return connection.run(command`
    UPDATE log_heads
       SET signed_size = ${signed.size}, signed_at = ${signed.issuedAt},
           checkpoint_count = ${signed.number}
     WHERE ledger_id = ${ledgerId} AND log = ${log}`);
}

/** Empties the tree of a locked log, for another generation. */
export function resetLogHead(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<unknown> {
  return connection.run(command`
    UPDATE log_heads
       SET size = 0, subtrees = ''::bytea, signed_size = 0, signed_at = NULL, checkpoint_count = 0
     WHERE ledger_id = ${ledgerId} AND log = ${log}`);
}

/** A perfect subtree of a log's tree with its root. */
export interface LogSubtree extends PerfectSubtree {
  readonly root: Hash;
}

export function insertLogSubtrees(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  subtrees: readonly LogSubtree[],
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO log_subtrees (ledger_id, log, generation, level, index, root)
    SELECT head.ledger_id, ${log}, ${generation}::integer, level, index, decode(root, 'hex')
      FROM (SELECT ledger_id FROM log_heads WHERE ledger_id = ${ledgerId} AND log = ${log}) AS head
      CROSS JOIN unnest(
        ${column(subtrees, ({ level }) => level, "int2")},
        ${column(subtrees, ({ index }) => index, "int8")},
        ${column(subtrees, ({ root }) => root.toString("hex"), "text")}) AS new (level, index, root)`);
}

const subtreeRow = z.object({ level: z.number(), index: z.number(), root: hashColumn });

/** Those of some stored subtrees that are there. */
export function listLogSubtrees(
  connection: Connection,
  { ledgerId, log, generation }: LogIdentity,
  subtrees: readonly PerfectSubtree[],
): Promise<readonly LogSubtree[]> {
  return connection.any(sql.type(subtreeRow)`
    SELECT stored.level, stored.index, stored.root
      FROM unnest(
             ${column(subtrees, ({ level }) => level, "int2")},
             ${column(subtrees, ({ index }) => index, "int8")}) AS wanted (level, index)
     CROSS JOIN LATERAL (
       SELECT level, index, root FROM log_subtrees
        WHERE ledger_id = ${ledgerId} AND log = ${log} AND generation = ${generation}
          AND level = wanted.level AND index = wanted.index
        LIMIT 1
     ) AS stored`);
}

const leavesRow = z.object({ leaves: z.instanceof(Buffer).nullable(), count: z.number() });

/** The stored leaves of a ledger's entries in a range of sequences, in order. */
export async function listEntryLeaves(
  connection: Connection,
  ledgerId: string,
  { afterSequence, upToSequence }: SequenceRange,
): Promise<readonly Hash[]> {
  // Joined into one value: thousands of small ones take the server several times as long to read.
  const { leaves, count } = await connection.one(sql.type(leavesRow)`
    SELECT string_agg(leaf, ''::bytea ORDER BY sequence) AS leaves, count(*) AS count
      FROM journal_entries
     WHERE ledger_id = ${ledgerId} AND sequence > ${afterSequence} AND sequence <= ${upToSequence}`);
  if (leaves?.length !== 32 * count) return [];
  return Array.from({ length: count }, (_, index) => leaves.subarray(32 * index, 32 * index + 32));
}

/** How many leaves a log could have now: the journal's last sequence, or the last close's number. */
export async function countLogLeaves(
  connection: Connection,
  ledgerId: string,
  log: LogKind,
): Promise<number> {
  const { count } = await connection.one(
    log === "journal"
      ? sql.type(countRow)`
          SELECT last_sequence AS count FROM journal_heads WHERE ledger_id = ${ledgerId}`
      : sql.type(countRow)`
          SELECT coalesce(max(number), 0) AS count FROM period_closes WHERE ledger_id = ${ledgerId}`,
  );
  return count;
}

/**
 * Ledgers whose journal has grown beyond its newest checkpoint, if that is older than so long or there is none; unless the
 * log is halted.
 */
export async function listUnsignedJournals(
  connection: Connection,
  olderThanMs: number,
): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT journals.ledger_id AS "ledgerId"
      FROM journal_heads AS journals
      LEFT JOIN log_heads AS heads ON heads.ledger_id = journals.ledger_id AND heads.log = 'journal'
      LEFT JOIN log_states AS states
        ON states.ledger_id = journals.ledger_id AND states.log = 'journal'
     WHERE states.halted_at IS NULL AND journals.last_sequence > coalesce(heads.signed_size, 0)
       AND coalesce(heads.signed_at, '-infinity')
           <= statement_timestamp() - ${olderThanMs} * interval '1 millisecond'`);
  return rows.map(({ ledgerId }) => ledgerId);
}

/** Ledgers that have a close which is in no checkpoint yet, unless the log is halted. */
export async function listUnsignedCloses(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT journals.ledger_id AS "ledgerId"
      FROM journal_heads AS journals
      LEFT JOIN log_heads AS heads ON heads.ledger_id = journals.ledger_id AND heads.log = 'closes'
      LEFT JOIN log_states AS states
        ON states.ledger_id = journals.ledger_id AND states.log = 'closes'
      JOIN period_closes AS closes
        ON closes.ledger_id = journals.ledger_id AND closes.number = coalesce(heads.signed_size, 0) + 1
     WHERE states.halted_at IS NULL`);
  return rows.map(({ ledgerId }) => ledgerId);
}

/** How many logs are halted, of all ledgers. */
export async function countHaltedLogs(connection: Connection): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT count(*) FROM log_states WHERE halted_at IS NOT NULL`);
  return count;
}

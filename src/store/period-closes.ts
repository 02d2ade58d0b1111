// Closes: records, their trial balances and the subtrees of their leaves.
import * as z from "zod";
import type { BalanceRow, CloseRecord, Subtree } from "../core/close.ts";
import type { ClosedPeriod } from "../core/period.ts";
import type { Timestamp } from "../core/time.ts";
import { countRow, hashColumn, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";

const closeRow = z.object({
  ledgerId: z.string(),
  closeId: z.string(),
  number: z.number(),
  periodId: z.string(),
  reason: z.string().nullable(),
  startsAt: timestampColumn.nullable(),
  endsAt: timestampColumn,
  closedAt: timestampColumn,
  lastSequence: z.number(),
  entryCount: z.number(),
  merkleRoot: z.string(),
  merkleAlgorithm: z.string(),
  balancesRoot: z.string(),
  previousCloseHash: z.string().nullable(),
  closeHash: z.string(),
});

const closeColumns = sql.fragment`
  ledger_id AS "ledgerId", close_id AS "closeId", number, period_id AS "periodId", reason,
  starts_at AS "startsAt", ends_at AS "endsAt", closed_at AS "closedAt",
  last_sequence AS "lastSequence", entry_count AS "entryCount", merkle_root AS "merkleRoot",
  merkle_algorithm AS "merkleAlgorithm", balances_root AS "balancesRoot",
  previous_close_hash AS "previousCloseHash", close_hash AS "closeHash"`;

/** Closes by number, oldest first, behind one of them. Numbers have no gaps. */
export function listCloses(
  connection: Connection,
  ledgerId: string,
  page: { readonly afterNumber: number; readonly limit: number },
): Promise<readonly CloseRecord[]> {
  return connection.any(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND number > ${page.afterNumber}
     ORDER BY number LIMIT ${page.limit}`);
}

/** How many closes a ledger has. */
export async function countCloses(connection: Connection, ledgerId: string): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT coalesce(max(number), 0) AS count FROM period_closes WHERE ledger_id = ${ledgerId}`);
  return count;
}

export function findClose(
  connection: Connection,
  ledgerId: string,
  closeId: string,
): Promise<CloseRecord | null> {
  return connection.maybeOne(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND close_id = ${closeId}`);
}

/** The close with a periodId, or null. */
export async function findCloseOfPeriod(
  connection: Connection,
  ledgerId: string,
  periodId: string,
): Promise<CloseRecord | null> {
  return connection.maybeOne(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND period_id = ${periodId}`);
}

/** The ledger's last close, or null before the first. */
export async function findLastClose(
  connection: Connection,
  ledgerId: string,
): Promise<CloseRecord | null> {
  return connection.maybeOne(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes WHERE ledger_id = ${ledgerId}
     ORDER BY number DESC LIMIT 1`);
}

/** Of the closes up to a sequence that end by a moment, the one that ends last, and of these the newest; or null. */
export function findCloseBefore(
  connection: Connection,
  ledgerId: string,
  moment: Timestamp,
  upToSequence: number,
): Promise<CloseRecord | null> {
  return connection.maybeOne(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND ends_at <= ${moment} AND last_sequence <= ${upToSequence}
     ORDER BY ends_at DESC, number DESC LIMIT 1`);
}

const closedPeriodRow = closeRow.pick({
  periodId: true,
  closeId: true,
  startsAt: true,
  endsAt: true,
}) satisfies z.ZodType<ClosedPeriod>;

/**
 * The closed periods of a ledger from a number on, that one included, by number. Closes are never taken back. Where
 * closes come in order, each has closed all that lies before its end.
 */
export function listClosedPeriods(
  connection: Connection,
  ledgerId: string,
  fromNumber: number,
): Promise<ClosedPeriod[]> {
  return connection.any(sql.type(closedPeriodRow)`
    SELECT period_id AS "periodId", close_id AS "closeId",
           CASE WHEN ledgers.closes_in_order THEN NULL ELSE starts_at END AS "startsAt",
           ends_at AS "endsAt"
      FROM period_closes AS closes
      JOIN ledgers ON ledgers.ledger_id = closes.ledger_id
     WHERE closes.ledger_id = ${ledgerId} AND number >= ${fromNumber} ORDER BY number`);
}

export const balanceRow = z.object({
  glAccountCode: z.string(),
  opening: z.bigint(),
  debits: z.bigint(),
  credits: z.bigint(),
  closing: z.bigint(),
  entryCount: z.number(),
});

/** The stored trial balance of a close, ordered by the UTF-8 bytes of the codes. */
export function listCloseBalances(
  connection: Connection,
  { ledgerId, number }: Pick<CloseRecord, "ledgerId" | "number">,
): Promise<readonly BalanceRow[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT gl_account_code AS "glAccountCode", opening, debits, credits, closing,
           entry_count AS "entryCount"
      FROM period_close_balances WHERE ledger_id = ${ledgerId} AND number = ${number}
     ORDER BY gl_account_code`);
}

const subtreeRow = z.object({ part: z.number(), firstSequence: z.number(), root: hashColumn });

/** The roots over the parts of a close's leaves, in order. */
export function listSubtrees(
  connection: Connection,
  { ledgerId, number }: Pick<CloseRecord, "ledgerId" | "number">,
): Promise<readonly (Subtree & { readonly part: number })[]> {
  return connection.any(sql.type(subtreeRow)`
    SELECT part, first_sequence AS "firstSequence", root FROM period_close_subtrees
     WHERE ledger_id = ${ledgerId} AND number = ${number} ORDER BY part`);
}

/** Stores a close with its trial balance and the subtrees of its tree. */
export function insertClose(
  connection: Connection,
  record: CloseRecord,
  balances: readonly BalanceRow[],
  subtrees: readonly Subtree[],
): Promise<unknown>[] {
  const { ledgerId, number } = record;
  const parts = subtrees.map((_, part) => part);
  const roots = subtrees.map(({ root }) => root.toString("hex"));
  return [
    connection.run(command`
      INSERT INTO period_closes
        (ledger_id, close_id, number, period_id, reason, starts_at, ends_at, closed_at,
         last_sequence, entry_count, merkle_root, merkle_algorithm, balances_root,
         previous_close_hash, close_hash)
      VALUES (
        ${ledgerId},
        ${record.closeId},
        ${number},
        ${record.periodId},
        ${record.reason},
        ${record.startsAt},
        ${record.endsAt},
        ${record.closedAt},
        ${record.lastSequence},
        ${record.entryCount},
        ${record.merkleRoot},
        ${record.merkleAlgorithm},
        ${record.balancesRoot},
        ${record.previousCloseHash},
        ${record.closeHash})`),
    connection.run(command`
      INSERT INTO period_close_balances
        (ledger_id, number, gl_account_code, opening, debits, credits, closing, entry_count)
      SELECT ledger.ledger_id, ${number}::integer, new.*
        FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN unnest(
          ${column(balances, ({ glAccountCode }) => glAccountCode, "text")},
          ${column(balances, ({ opening }) => opening, "numeric")},
          ${column(balances, ({ debits }) => debits, "numeric")},
          ${column(balances, ({ credits }) => credits, "numeric")},
          ${column(balances, ({ closing }) => closing, "numeric")},
          ${column(balances, ({ entryCount }) => entryCount, "int8")}) AS new`),
    connection.run(command`
      INSERT INTO period_close_subtrees (ledger_id, number, part, first_sequence, root)
      SELECT ledger.ledger_id, ${number}::integer, part, first_sequence, decode(root, 'hex')
        FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN unnest(
          ${sql.array(parts, "int4")},
          ${column(subtrees, ({ firstSequence }) => firstSequence, "int8")},
          ${sql.array(roots, "text")}) AS new (part, first_sequence, root)`),
  ];
}

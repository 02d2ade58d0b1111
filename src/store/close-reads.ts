// Reading closes: records, their trial balances, and what audit paths are made from.
import { sql } from "slonik";
import { z } from "zod";
import {
  leavesPerSubtree,
  type BalanceRow,
  type CloseRecord,
  type Subtree,
} from "../core/close.ts";
import type { Hash } from "../core/merkle.ts";
import { timestampColumn } from "./columns.ts";
import type { ReadConnection } from "./read-pool.ts";

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

/** Columns of a close, for reads and for the statements of the write path. */
export const closeColumns = sql.fragment`
  ledger_id AS "ledgerId", close_id AS "closeId", number, period_id AS "periodId", reason,
  starts_at AS "startsAt", ends_at AS "endsAt", closed_at AS "closedAt",
  last_sequence AS "lastSequence", entry_count AS "entryCount", merkle_root AS "merkleRoot",
  merkle_algorithm AS "merkleAlgorithm", balances_root AS "balancesRoot",
  previous_close_hash AS "previousCloseHash", close_hash AS "closeHash"`;

/** Closes by number, oldest first, behind one of them. Numbers have no gaps. */
export function listCloses(
  pool: ReadConnection,
  ledgerId: string,
  page: { readonly afterNumber: number; readonly limit: number },
): Promise<readonly CloseRecord[]> {
  return pool.any(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND number > ${page.afterNumber}
     ORDER BY number LIMIT ${page.limit}`);
}

/** How many closes a ledger has. */
export async function countCloses(pool: ReadConnection, ledgerId: string): Promise<number> {
  const { count } = await pool.one(sql.type(z.object({ count: z.number() }))`
    SELECT coalesce(max(number), 0) AS count FROM period_closes WHERE ledger_id = ${ledgerId}`);
  return count;
}

export function findClose(
  pool: ReadConnection,
  ledgerId: string,
  closeId: string,
): Promise<CloseRecord | null> {
  return pool.maybeOne(sql.type(closeRow)`
    SELECT ${closeColumns} FROM period_closes
     WHERE ledger_id = ${ledgerId} AND close_id = ${closeId}`);
}

const balanceRow = z.object({
  glAccountCode: z.string(),
  opening: z.bigint(),
  debits: z.bigint(),
  credits: z.bigint(),
  closing: z.bigint(),
  entryCount: z.number(),
});

/** The stored trial balance of a close, ordered by the UTF-8 bytes of the codes. */
export function listCloseBalances(
  pool: ReadConnection,
  { ledgerId, number }: Pick<CloseRecord, "ledgerId" | "number">,
): Promise<readonly BalanceRow[]> {
  return pool.any(sql.type(balanceRow)`
    SELECT gl_account_code AS "glAccountCode", opening, debits, credits, closing,
           entry_count AS "entryCount"
      FROM period_close_balances WHERE ledger_id = ${ledgerId} AND number = ${number}
     ORDER BY gl_account_code`);
}

const hashColumn = z.custom<Hash>((value) => Buffer.isBuffer(value));

const subtreeRow = z.object({ part: z.number(), firstSequence: z.number(), root: hashColumn });

/** The roots over the parts of a close's leaves, in order. */
export function listSubtrees(
  pool: ReadConnection,
  { ledgerId, number }: Pick<CloseRecord, "ledgerId" | "number">,
): Promise<readonly (Subtree & { readonly part: number })[]> {
  return pool.any(sql.type(subtreeRow)`
    SELECT part, first_sequence AS "firstSequence", root FROM period_close_subtrees
     WHERE ledger_id = ${ledgerId} AND number = ${number} ORDER BY part`);
}

/** The leaves of one part of a close's tree, with their sequences. */
export function listLeaves(
  pool: ReadConnection,
  close: Pick<CloseRecord, "ledgerId" | "startsAt" | "endsAt" | "lastSequence">,
  firstSequence: number,
): Promise<readonly { readonly sequence: number; readonly leaf: Hash }[]> {
  return pool.any(sql.type(z.object({ sequence: z.number(), leaf: hashColumn }))`
    SELECT sequence, leaf FROM journal_entries
     WHERE ledger_id = ${close.ledgerId}
       AND sequence >= ${firstSequence} AND sequence <= ${close.lastSequence}
       AND transaction_date >= ${close.startsAt ?? "-infinity"}
       AND transaction_date < ${close.endsAt}
     ORDER BY sequence LIMIT ${leavesPerSubtree}`);
}

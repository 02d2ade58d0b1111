// Statements of a close: what its trees and its trial balance are made from, and what it stores.
// Every entry up to the head's last sequence is committed and never changes, so statements that name
// that sequence agree with each other without a snapshot.
import type { BalanceRow, CloseRecord, Subtree } from "../core/close.ts";
import type { Hash } from "../core/merkle.ts";
import type { ClosedPeriod, Period } from "../core/period.ts";
import type { Timestamp } from "../core/time.ts";
import { closeColumns } from "./close-reads.ts";
import type { StatementSender } from "./write-connections.ts";

/**
 * The closed periods of a ledger with numbers above one, by number. Closes are never taken back. Where closes come
 * in order, each has closed all that lies before its end.
 */
export function listClosedPeriods(
  sender: StatementSender,
  ledgerId: string,
  afterNumber: number,
): Promise<ClosedPeriod[]> {
  return sender.send(
    {
      name: "list_closed_periods",
      text: `SELECT period_id AS "periodId", close_id AS "closeId",
                    CASE WHEN ledgers.closes_in_order THEN NULL ELSE starts_at END AS "startsAt",
                    ends_at AS "endsAt"
               FROM period_closes AS closes
               JOIN ledgers ON ledgers.ledger_id = closes.ledger_id
              WHERE closes.ledger_id = $1 AND number > $2 ORDER BY number`,
    },
    [ledgerId, afterNumber],
  );
}

/** Whether a ledger's closes come in order. */
export async function hasClosesInOrder(
  sender: StatementSender,
  ledgerId: string,
): Promise<boolean> {
  const rows = await sender.send<{ closesInOrder: boolean }>(
    {
      name: "has_closes_in_order",
      text: `SELECT closes_in_order AS "closesInOrder" FROM ledgers WHERE ledger_id = $1`,
    },
    [ledgerId],
  );
  return rows[0]?.closesInOrder === true;
}

/** The close with a periodId, or null. */
export async function findCloseOfPeriod(
  sender: StatementSender,
  ledgerId: string,
  periodId: string,
): Promise<CloseRecord | null> {
  const rows = await sender.send<CloseRecord>(
    {
      name: "find_close_of_period",
      text: `SELECT ${closeColumns.sql} FROM period_closes WHERE ledger_id = $1 AND period_id = $2`,
    },
    [ledgerId, periodId],
  );
  return rows[0] ?? null;
}

/** The ledger's last close, or null before the first. */
export async function findLastClose(
  sender: StatementSender,
  ledgerId: string,
): Promise<CloseRecord | null> {
  const rows = await sender.send<CloseRecord>(
    {
      name: "find_last_close",
      text: `SELECT ${closeColumns.sql} FROM period_closes WHERE ledger_id = $1
              ORDER BY number DESC LIMIT 1`,
    },
    [ledgerId],
  );
  return rows[0] ?? null;
}

/** Entries of a period, by sequence: after one, up to another. */
export interface LeafSpan extends Period {
  readonly afterSequence: number;
  readonly upToSequence: number;
}

// Columns are compared with a bound that is always there: with `$n IS NULL OR` no index would be used.
const startOf = (startsAt: Timestamp | null) => startsAt ?? "-infinity";

/** The number of entries in a span, and its first and last sequence (0 when it is empty). */
export async function measureSpan(
  sender: StatementSender,
  ledgerId: string,
  span: LeafSpan,
): Promise<{ count: number; firstSequence: number; lastSequence: number }> {
  const rows = await sender.send<{ count: number; firstSequence: number; lastSequence: number }>(
    {
      name: "measure_span",
      text: `SELECT count(*) AS count, coalesce(min(sequence), 0) AS "firstSequence",
                    coalesce(max(sequence), 0) AS "lastSequence"
               FROM journal_entries
              WHERE ledger_id = $1 AND transaction_date >= $2 AND transaction_date < $3
                AND sequence > $4 AND sequence <= $5`,
    },
    [ledgerId, startOf(span.startsAt), span.endsAt, span.afterSequence, span.upToSequence],
  );
  const [measured] = rows;
  if (measured === undefined) throw new Error("a count is one row");
  return measured;
}

/** The first stored leaves of a span, with their sequences. */
export async function readLeaves(
  sender: StatementSender,
  ledgerId: string,
  span: LeafSpan,
  limit: number,
): Promise<{ sequence: number; leaf: Hash }[]> {
  // Joined into two values: thousands of small ones take the server several times as long to read.
  const rows = await sender.send<{ leaves: Buffer | null; sequences: string | null }>(
    {
      name: "read_leaves",
      text: `SELECT string_agg(leaf, ''::bytea ORDER BY sequence) AS leaves,
                    string_agg(sequence::text, ' ' ORDER BY sequence) AS sequences
               FROM (
                 SELECT sequence, leaf FROM journal_entries
                  WHERE ledger_id = $1 AND sequence > $4 AND sequence <= $5
                    AND transaction_date >= $2 AND transaction_date < $3
                  ORDER BY sequence LIMIT $6
               ) AS span`,
    },
    [ledgerId, startOf(span.startsAt), span.endsAt, span.afterSequence, span.upToSequence, limit],
  );
  const { leaves = null, sequences = null } = rows[0] ?? {};
  if (leaves === null || sequences === null) return [];
  return sequences.split(" ").map((sequence, index) => ({
    sequence: Number(sequence),
    leaf: leaves.subarray(index * 32, index * 32 + 32),
  }));
}

/** The trial balance over entries with sequences after one and up to another, ordered by code. */
export function sumTrialBalance(
  sender: StatementSender,
  ledgerId: string,
  span: LeafSpan,
): Promise<BalanceRow[]> {
  return sender.send(
    {
      name: "sum_trial_balance",
      text: `SELECT gl_account_code AS "glAccountCode",
                    sum(opening) AS opening, sum(debits) AS debits, sum(credits) AS credits,
                    sum(opening + debits + credits) AS closing,
                    count(*) FILTER (WHERE is_within) AS "entryCount"
               FROM (
                 SELECT lines.gl_account_code, entries.transaction_date >= $2 AS is_within,
                        coalesce(sum(functional_amount)
                          FILTER (WHERE entries.transaction_date < $2), 0) AS opening,
                        coalesce(sum(functional_amount) FILTER (
                          WHERE entries.transaction_date >= $2 AND functional_amount > 0), 0)
                          AS debits,
                        coalesce(sum(functional_amount) FILTER (
                          WHERE entries.transaction_date >= $2 AND functional_amount < 0), 0)
                          AS credits
                   FROM journal_entries AS entries
                   JOIN journal_lines AS lines
                     ON lines.ledger_id = entries.ledger_id AND lines.sequence = entries.sequence
                  WHERE entries.ledger_id = $1 AND entries.transaction_date < $3
                    AND entries.sequence > $4 AND entries.sequence <= $5
                  GROUP BY lines.gl_account_code, entries.sequence, is_within
               ) AS sums
              GROUP BY gl_account_code ORDER BY gl_account_code`,
    },
    [ledgerId, startOf(span.startsAt), span.endsAt, span.afterSequence, span.upToSequence],
  );
}

/** How many entries up to a sequence are dated in some intervals, by months in UTC (`2026-03`), in order. */
export async function countEntriesByMonth(
  sender: StatementSender,
  ledgerId: string,
  intervals: readonly Period[],
  upToSequence: number,
): Promise<{ month: string; entryCount: number }[]> {
  if (intervals.length === 0) return [];
  return sender.send(
    {
      name: "count_entries_by_month",
      text: `SELECT to_char(transaction_date AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
                    count(*) AS "entryCount"
               FROM unnest($2::timestamptz[], $3::timestamptz[]) AS intervals (starts_at, ends_at)
               JOIN journal_entries AS entries
                 ON entries.ledger_id = $1
                AND entries.transaction_date >= intervals.starts_at
                AND entries.transaction_date < intervals.ends_at
              WHERE entries.sequence <= $4
              GROUP BY month ORDER BY month`,
    },
    [
      ledgerId,
      intervals.map(({ startsAt }) => startOf(startsAt)),
      intervals.map(({ endsAt }) => endsAt),
      upToSequence,
    ],
  );
}

/** Stores a close with its trial balance and the subtrees of its tree. */
export function insertClose(
  sender: StatementSender,
  record: CloseRecord,
  balances: readonly BalanceRow[],
  subtrees: readonly Subtree[],
): Promise<unknown>[] {
  const { ledgerId, number } = record;
  return [
    sender.send(
      {
        name: "insert_close",
        text: `INSERT INTO period_closes
                 (ledger_id, close_id, number, period_id, reason, starts_at, ends_at, closed_at,
                  last_sequence, entry_count, merkle_root, merkle_algorithm, balances_root,
                  previous_close_hash, close_hash)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
      },
      [
        ledgerId,
        record.closeId,
        number,
        record.periodId,
        record.reason,
        record.startsAt,
        record.endsAt,
        record.closedAt,
        record.lastSequence,
        record.entryCount,
        record.merkleRoot,
        record.merkleAlgorithm,
        record.balancesRoot,
        record.previousCloseHash,
        record.closeHash,
      ],
    ),
    sender.send(
      {
        name: "insert_close_balances",
        text: `INSERT INTO period_close_balances
                 (ledger_id, number, gl_account_code, opening, debits, credits, closing, entry_count)
               SELECT $1::uuid, $2::integer, new.*
                 FROM unnest($3::text[], $4::numeric[], $5::numeric[], $6::numeric[],
                             $7::numeric[], $8::bigint[]) AS new`,
      },
      [
        ledgerId,
        number,
        balances.map(({ glAccountCode }) => glAccountCode),
        balances.map(({ opening }) => opening.toString()),
        balances.map(({ debits }) => debits.toString()),
        balances.map(({ credits }) => credits.toString()),
        balances.map(({ closing }) => closing.toString()),
        balances.map(({ entryCount }) => entryCount),
      ],
    ),
    sender.send(
      {
        name: "insert_close_subtrees",
        text: `INSERT INTO period_close_subtrees (ledger_id, number, part, first_sequence, root)
               SELECT $1::uuid, $2::integer, new.part, new.first_sequence, decode(new.root, 'hex')
                 FROM unnest($3::integer[], $4::bigint[], $5::text[])
                   AS new (part, first_sequence, root)`,
      },
      [
        ledgerId,
        number,
        subtrees.map((_, part) => part),
        subtrees.map(({ firstSequence }) => firstSequence),
        subtrees.map(({ root }) => root.toString("hex")),
      ],
    ),
  ];
}

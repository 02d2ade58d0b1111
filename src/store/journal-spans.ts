// What the trees and trial balances of closes are made from. Every entry up to the head's last sequence is
// committed and never changes, so statements that name that sequence agree with each other without a snapshot.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { BalanceRow } from "../core/close.ts";
import type { Hash } from "../core/merkle.ts";
import type { Period } from "../core/period.ts";
import type { Timestamp } from "../core/time.ts";
import { linesOf } from "./journal-entries.ts";
import { balanceRow } from "./period-closes.ts";
import type { Connection } from "./database/connection.ts";
import { column, sql } from "./database/statement.ts";
import type { Interval } from "./whole-days.ts";

/** Sequences after one, up to another. */
export interface SequenceRange {
  readonly afterSequence: number;
  readonly upToSequence: number;
}

/** Entries of a period, in a range of sequences. */
export interface LeafSpan extends Period, SequenceRange {}

// Columns are compared with a bound that is always there: with `$n IS NULL OR` no index would be used.
const startOf = (startsAt: Timestamp | null) => startsAt ?? "-infinity";

const pieceRow = z.object({
  firstSequence: z.number(),
  lastSequence: z.number(),
  entryCount: z.number(),
});

/** A span that has some entries, and how many. */
export interface CountedSpan extends LeafSpan {
  readonly entryCount: number;
}

/**
 * The pieces of the journal that a span has entries in, in order, each from the first of them to the last. No piece is longer
 * than `length` sequences.
 */
export async function divideSpan(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
  length: number,
): Promise<CountedSpan[]> {
  const pieces = await connection.any(sql.type(pieceRow)`
    SELECT min(sequence) AS "firstSequence", max(sequence) AS "lastSequence",
           count(*) AS "entryCount"
      FROM journal_entries
     WHERE ledger_id = ${ledgerId} AND transaction_date >= ${startOf(span.startsAt)}
       AND transaction_date < ${span.endsAt}
       AND sequence > ${span.afterSequence} AND sequence <= ${span.upToSequence}
     GROUP BY (sequence - 1) / ${length}::bigint ORDER BY 1`);
  return pieces.map(({ firstSequence, lastSequence, entryCount }) => ({
    ...span,
    afterSequence: firstSequence - 1,
    upToSequence: lastSequence,
    entryCount,
  }));
}

/**
 * A query of what a table of the journal has in a short range of sequences. OFFSET keeps PostgreSQL from indexes by other keys:
 * where its statistics know nothing of a ledger or a period, it takes them for short, and would walk all of one for each range.
 */
export const selectRange = (
  table: "journal_entries" | "journal_lines",
  ledgerId: string,
  range: SequenceRange,
): FragmentSqlToken => sql.fragment`
  SELECT * FROM ${sql.identifier([table])}
   WHERE ledger_id = ${ledgerId}
     AND sequence > ${range.afterSequence} AND sequence <= ${range.upToSequence}
   ORDER BY ${table === "journal_lines" ? sql.fragment`sequence, line_number` : sql.fragment`sequence`}
  OFFSET 0`;

/** A query of the entries of a short span. */
export const entriesOfSpan = (ledgerId: string, span: LeafSpan): FragmentSqlToken => sql.fragment`
  SELECT * FROM (${selectRange("journal_entries", ledgerId, span)}) AS in_range
   WHERE transaction_date >= ${startOf(span.startsAt)} AND transaction_date < ${span.endsAt}`;

/** The stored leaves of a short span, by sequence. */
export function readLeaves(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
): Promise<StoredLeaf[]> {
  return joinLeaves(connection, entriesOfSpan(ledgerId, span));
}

/** The first stored leaves of a span that may be long, by sequence. */
export function readFirstLeaves(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
  limit: number,
): Promise<StoredLeaf[]> {
  return joinLeaves(
    connection,
    sql.fragment`
      SELECT sequence, leaf FROM journal_entries
       WHERE ledger_id = ${ledgerId} AND sequence > ${span.afterSequence}
         AND sequence <= ${span.upToSequence}
         AND transaction_date >= ${startOf(span.startsAt)} AND transaction_date < ${span.endsAt}
       ORDER BY sequence LIMIT ${limit}`,
  );
}

interface StoredLeaf {
  readonly sequence: number;
  readonly leaf: Hash;
}

const leavesRow = z.object({
  leaves: z.instanceof(Buffer).nullable(),
  sequences: z.string().nullable(),
});

async function joinLeaves(
  connection: Connection,
  entries: FragmentSqlToken,
): Promise<StoredLeaf[]> {
  // Joined into two values: thousands of small ones take the server several times as long to read.
  const { leaves, sequences } = await connection.one(sql.type(leavesRow)`
    SELECT string_agg(leaf, ''::bytea ORDER BY sequence) AS leaves,
           string_agg(sequence::text, ' ' ORDER BY sequence) AS sequences
      FROM (${entries}) AS entries`);
  if (leaves === null || sequences === null) return [];
  return sequences.split(" ").map((sequence, index) => ({
    sequence: Number(sequence),
    leaf: leaves.subarray(index * 32, index * 32 + 32),
  }));
}

/**
 * The trial balance over entries with sequences after one and up to another, ordered by code. Its opening begins with
 * `openingFrom`; unless given, with the journal.
 */
export function sumTrialBalance(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan & { readonly openingFrom?: Timestamp },
): Promise<BalanceRow[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT gl_account_code AS "glAccountCode",
           sum(opening) AS opening, sum(debits) AS debits, sum(credits) AS credits,
           sum(opening + debits + credits) AS closing,
           count(*) FILTER (WHERE is_within) AS "entryCount"
      FROM (
        SELECT lines.gl_account_code, entries.transaction_date >= ${startOf(span.startsAt)} AS is_within,
               coalesce(sum(functional_amount)
                 FILTER (WHERE entries.transaction_date < ${startOf(span.startsAt)}), 0) AS opening,
               coalesce(sum(functional_amount) FILTER (
                 WHERE entries.transaction_date >= ${startOf(span.startsAt)} AND functional_amount > 0), 0)
                 AS debits,
               coalesce(sum(functional_amount) FILTER (
                 WHERE entries.transaction_date >= ${startOf(span.startsAt)} AND functional_amount < 0), 0)
                 AS credits
          FROM journal_entries AS entries
         CROSS JOIN LATERAL ${linesOf(ledgerId)} AS lines
         WHERE entries.ledger_id = ${ledgerId}
           AND entries.transaction_date >= ${startOf(span.openingFrom ?? null)}
           AND entries.transaction_date < ${span.endsAt}
           AND entries.sequence > ${span.afterSequence} AND entries.sequence <= ${span.upToSequence}
         GROUP BY lines.gl_account_code, entries.sequence, is_within
      ) AS sums
     GROUP BY gl_account_code ORDER BY gl_account_code`);
}

const debits = sql.fragment`coalesce(sum(functional_amount) FILTER (WHERE functional_amount > 0), 0)`;
const credits = sql.fragment`coalesce(sum(functional_amount) FILTER (WHERE functional_amount < 0), 0)`;

/** A row of a trial balance without an opening, of lines that are grouped by account. */
const movementColumns = sql.fragment`
  gl_account_code AS "glAccountCode", 0::numeric AS opening,
  ${debits} AS debits, ${credits} AS credits, ${debits} + ${credits} AS closing,
  count(DISTINCT sequence) AS "entryCount"`;

/**
 * What `sumTrialBalance` gives of a span without an opening, in less than half the time where most entries of the range are
 * in the period: the lines of all of them are read, and their entries looked up in a hash table. So the range has to be
 * short: a table that is too large for memory is not made, and then each line is compared with each entry.
 */
export function sumMovements(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
): Promise<BalanceRow[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT ${movementColumns}
      FROM journal_lines
     WHERE ledger_id = ${ledgerId}
       AND sequence > ${span.afterSequence} AND sequence <= ${span.upToSequence}
       -- Without IS TRUE it is a join, and PostgreSQL compares each with each where its statistics are old.
       AND (sequence IN (
         SELECT sequence FROM (${entriesOfSpan(ledgerId, span)}) AS entries)) IS TRUE
     GROUP BY gl_account_code ORDER BY gl_account_code`);
}

/** What `sumMovements` gives where all entries of the range are in the period, in half the time. */
export function sumAllMovements(
  connection: Connection,
  ledgerId: string,
  range: SequenceRange,
): Promise<BalanceRow[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT ${movementColumns}
      FROM journal_lines
     WHERE ledger_id = ${ledgerId}
       AND sequence > ${range.afterSequence} AND sequence <= ${range.upToSequence}
     GROUP BY gl_account_code ORDER BY gl_account_code`);
}

const amountRow = z.object({ glAccountCode: z.string(), functionalAmount: z.bigint() });

/** What the entries of a span have brought to each account that they have a line on, ordered by code. */
export function sumAmounts(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
): Promise<Readonly<z.output<typeof amountRow>>[]> {
  return connection.any(sql.type(amountRow)`
    SELECT gl_account_code AS "glAccountCode", sum(functional_amount) AS "functionalAmount"
      FROM journal_entries AS entries
      JOIN journal_lines AS lines
        ON lines.ledger_id = entries.ledger_id AND lines.sequence = entries.sequence
     WHERE entries.ledger_id = ${ledgerId}
       AND entries.transaction_date >= ${startOf(span.startsAt)}
       AND entries.transaction_date < ${span.endsAt}
       AND entries.sequence > ${span.afterSequence} AND entries.sequence <= ${span.upToSequence}
     GROUP BY gl_account_code ORDER BY gl_account_code`);
}

export const monthRow = z.object({ month: z.string(), entryCount: z.number() });

/** How many entries are dated in a month, in UTC: `2026-03`. */
export type MonthCount = Readonly<z.output<typeof monthRow>>;

/**
 * How many entries with sequences after one and up to another are dated in some intervals, by months in UTC
 * (`2026-03`), in order.
 */
export async function countEntriesByMonth(
  connection: Connection,
  ledgerId: string,
  intervals: readonly Interval[],
  { afterSequence, upToSequence }: SequenceRange,
): Promise<readonly MonthCount[]> {
  if (intervals.length === 0) return [];
  return connection.any(sql.type(monthRow)`
    SELECT to_char(transaction_date AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
           count(*) AS "entryCount"
      FROM unnest(
        ${column(intervals, ({ startsAt }) => startOf(startsAt), "timestamptz")},
        ${column(intervals, ({ endsAt }) => endsAt ?? "infinity", "timestamptz")}) AS intervals (starts_at, ends_at)
      JOIN journal_entries AS entries
        ON entries.ledger_id = ${ledgerId}
       AND entries.transaction_date >= intervals.starts_at
       AND entries.transaction_date < intervals.ends_at
     WHERE entries.sequence > ${afterSequence} AND entries.sequence <= ${upToSequence}
     GROUP BY month ORDER BY month`);
}

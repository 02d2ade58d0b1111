// Sums over a ledger's entries by day, and in which spans of its journal entries of a day or an account are: derived from
// entries and lines, up to a sequence that is stored beside them.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { BalanceRow } from "../core/close.ts";
import { lockPlace } from "./citus-nodes.ts";
import { countRow, ledgerIdRow } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";
import { linesOf } from "./journal-entries.ts";
import { monthRow, type MonthCount, type SequenceRange } from "./journal-spans.ts";
import { balanceRow } from "./period-closes.ts";
import type { DayRange } from "./whole-days.ts";

const summedRow = z.object({ lastSequence: z.number() });

/**
 * Up to which sequence a ledger's entries are summed; 0 before any are. Whoever adds the later entries to the sums
 * reads all of it in one snapshot.
 */
export async function readSummedSequence(
  connection: Connection,
  ledgerId: string,
): Promise<number> {
  const row = await connection.maybeOne(sql.type(summedRow)`
    SELECT last_sequence AS "lastSequence" FROM summed_journals WHERE ledger_id = ${ledgerId}`);
  return row?.lastSequence ?? 0;
}

/** Ledgers that have at least so many entries that are not summed, or in no register, yet. */
export async function listUnsummedLedgers(
  connection: Connection,
  entriesMin: number,
): Promise<string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT heads.ledger_id AS "ledgerId"
      FROM journal_heads AS heads
      LEFT JOIN summed_journals AS summed ON summed.ledger_id = heads.ledger_id
     WHERE heads.last_sequence
             - coalesce(least(summed.last_sequence, summed.registered_sequence), 0) >= ${entriesMin}`);
  return rows.map(({ ledgerId }) => ledgerId);
}

/** Makes the row that `tryLockSums` locks. */
export function insertSummedJournal(connection: Connection, ledgerId: string): Promise<unknown> {
  return connection.run(command`
    INSERT INTO summed_journals (ledger_id, last_sequence) VALUES (${ledgerId}, 0)
    ON CONFLICT (ledger_id) DO NOTHING`);
}

const lockedRow = summedRow.extend({ registeredSequence: z.number() });

/**
 * Locks a ledger's sums and registers; up to which sequences they go, or null where somebody else has the lock.
 */
export async function tryLockSums(
  connection: Connection,
  ledgerId: string,
): Promise<Readonly<z.output<typeof lockedRow>> | null> {
  const [, locked] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.maybeOne(sql.type(lockedRow)`
      SELECT last_sequence AS "lastSequence", registered_sequence AS "registeredSequence"
        FROM summed_journals
       WHERE ledger_id = ${ledgerId} FOR UPDATE SKIP LOCKED`),
  ]);
  return locked;
}

/** The day of an entry `entries`. */
export const entryDay = sql.fragment`(entries.transaction_date AT TIME ZONE 'UTC')::date`;

/**
 * Whether an entry `entries` closes accounts, or takes back that one did. The original is looked up by itself, never by a
 * plan that reads those of a whole ledger.
 */
export function isClosing(ledgerId: string): FragmentSqlToken {
  return sql.fragment`
    CASE entries.entry_type
      WHEN 'CLOSING' THEN true
      WHEN 'REVERSAL' THEN (
        SELECT originals.entry_type = 'CLOSING' FROM journal_entries AS originals
         WHERE originals.ledger_id = ${ledgerId}
           AND originals.journal_id = entries.reverses_journal_id
         LIMIT 1)
      ELSE false
    END`;
}

/** Entries or lines, `of`, with sequences after one and up to another; these may be columns. */
export function isIn(of: FragmentSqlToken, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`${of}.sequence > ${span.afterSequence} AND ${of}.sequence <= ${span.upToSequence}`;
}

export interface SpanBounds {
  readonly afterSequence: number | FragmentSqlToken;
  readonly upToSequence: number | FragmentSqlToken;
}

/** A query of the rows of `account_days` that come of entries alone, without their ledger. */
export function selectAccountDays(ledgerId: string, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`
    SELECT gl_account_code, day, currency, is_closing,
           coalesce(sum(transaction_amount) FILTER (WHERE transaction_amount > 0), 0) AS debits,
           coalesce(sum(transaction_amount) FILTER (WHERE transaction_amount < 0), 0) AS credits,
           coalesce(sum(functional_amount) FILTER (WHERE functional_amount > 0), 0) AS functional_debits,
           coalesce(sum(functional_amount) FILTER (WHERE functional_amount < 0), 0) AS functional_credits,
           count(*) FILTER (WHERE place = 1) AS entry_count
      FROM (
        SELECT lines.gl_account_code, ${entryDay} AS day, lines.transaction_currency AS currency,
               ${isClosing(ledgerId)} AS is_closing, lines.transaction_amount,
               lines.functional_amount,
               row_number() OVER (PARTITION BY lines.sequence, lines.gl_account_code
                                  ORDER BY lines.line_number) AS place
          FROM journal_entries AS entries
         CROSS JOIN LATERAL ${linesOf(ledgerId)} AS lines
         WHERE entries.ledger_id = ${ledgerId} AND ${isIn(sql.fragment`entries`, span)}
      ) AS added
     GROUP BY gl_account_code, day, currency, is_closing`;
}

/** The same for `journal_days`. */
export function selectJournalDays(ledgerId: string, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`
    SELECT ${entryDay} AS day, count(*) AS entry_count
      FROM journal_entries AS entries
     WHERE entries.ledger_id = ${ledgerId} AND ${isIn(sql.fragment`entries`, span)}
     GROUP BY 1`;
}

/** The same for the rows of `account_spans` of one span. */
export function selectAccountSpans(ledgerId: string, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`
    SELECT gl_account_code, ${span.upToSequence}::bigint AS ends_at_sequence,
           min(sequence) AS first_sequence, count(DISTINCT sequence) AS entry_count
      FROM journal_lines AS lines
     WHERE lines.ledger_id = ${ledgerId} AND ${isIn(sql.fragment`lines`, span)}
     GROUP BY gl_account_code`;
}

/** The same for the rows of `day_spans` of one span. */
export function selectDaySpans(ledgerId: string, span: SpanBounds): FragmentSqlToken {
  return sql.fragment`
    SELECT ${entryDay} AS day, ${span.upToSequence}::bigint AS ends_at_sequence,
           min(sequence) AS first_sequence, count(*) AS entry_count
      FROM journal_entries AS entries
     WHERE entries.ledger_id = ${ledgerId} AND ${isIn(sql.fragment`entries`, span)}
     GROUP BY 1`;
}

/** Adds the entries after the sums up to a later one, as one span; under their lock. */
export async function addSpan(
  connection: Connection,
  ledgerId: string,
  span: SequenceRange,
): Promise<void> {
  await Promise.all([
    connection.run(command`
      INSERT INTO account_days AS summed
        (ledger_id, gl_account_code, day, currency, is_closing, debits, credits,
         functional_debits, functional_credits, entry_count)
      SELECT ledger.ledger_id, added.*
        FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN (${selectAccountDays(ledgerId, span)}) AS added
       ORDER BY gl_account_code, day, currency, is_closing
      ON CONFLICT (ledger_id, gl_account_code, day, currency, is_closing) DO UPDATE
         SET debits = summed.debits + EXCLUDED.debits,
             credits = summed.credits + EXCLUDED.credits,
             functional_debits = summed.functional_debits + EXCLUDED.functional_debits,
             functional_credits = summed.functional_credits + EXCLUDED.functional_credits,
             entry_count = summed.entry_count + EXCLUDED.entry_count`),
    connection.run(command`
      INSERT INTO journal_days AS summed (ledger_id, day, entry_count)
      SELECT ledger.ledger_id, added.*
        FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN (${selectJournalDays(ledgerId, span)}) AS added
       ORDER BY day
      ON CONFLICT (ledger_id, day) DO UPDATE
         SET entry_count = summed.entry_count + EXCLUDED.entry_count`),
    connection.run(command`
      INSERT INTO account_spans
        (ledger_id, gl_account_code, ends_at_sequence, first_sequence, entry_count)
      SELECT ledger.ledger_id, added.*
        FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN (${selectAccountSpans(ledgerId, span)}) AS added`),
    connection.run(command`
      INSERT INTO day_spans (ledger_id, day, ends_at_sequence, first_sequence, entry_count)
      SELECT ledger.ledger_id, added.*
        FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
        CROSS JOIN (${selectDaySpans(ledgerId, span)}) AS added`),
    connection.run(command`
      UPDATE summed_journals SET last_sequence = ${span.upToSequence} WHERE ledger_id = ${ledgerId}`),
  ]);
}

/**
 * The trial balance of whole days, with all days before them as its opening; in what is summed. `cutDays` are left out.
 */
export function sumAccountDays(
  connection: Connection,
  ledgerId: string,
  { fromDay, untilDay }: DayRange,
  cutDays: readonly string[],
): Promise<readonly BalanceRow[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT *, opening + debits + credits AS closing
      FROM (
        SELECT gl_account_code AS "glAccountCode",
               coalesce(sum(functional_debits + functional_credits)
                 FILTER (WHERE day < ${fromDay}::date), 0) AS opening,
               coalesce(sum(functional_debits) FILTER (WHERE day >= ${fromDay}::date), 0) AS debits,
               coalesce(sum(functional_credits) FILTER (WHERE day >= ${fromDay}::date), 0) AS credits,
               coalesce(sum(entry_count) FILTER (WHERE day >= ${fromDay}::date), 0)::bigint AS "entryCount"
          FROM account_days
         WHERE ledger_id = ${ledgerId} AND day < ${untilDay}::date
           AND day <> ALL (${sql.array(cutDays, "date")})
         GROUP BY gl_account_code
      ) AS sums
     ORDER BY "glAccountCode"`);
}

/** How many entries are dated on some days, by months in UTC (`2026-03`); in what is summed. */
export function countJournalDays(
  connection: Connection,
  ledgerId: string,
  { fromDay, untilDay }: DayRange,
): Promise<readonly MonthCount[]> {
  return connection.any(sql.type(monthRow)`
    SELECT to_char(day, 'YYYY-MM') AS month, sum(entry_count)::bigint AS "entryCount"
      FROM journal_days
     WHERE ledger_id = ${ledgerId} AND day >= ${fromDay}::date AND day < ${untilDay}::date
     GROUP BY month`);
}

/** How many entries that are dated on some days have lines on an account; in what is summed. */
export async function countAccountDays(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string,
  { fromDay, untilDay }: DayRange,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT coalesce(sum(entry_count), 0)::bigint AS count FROM account_days
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
       AND day >= ${fromDay}::date AND day < ${untilDay}::date`);
  return count;
}

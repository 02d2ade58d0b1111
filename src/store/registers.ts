// The lines of an account in the order of its register: by transaction date, then sequence, then line.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { entryTypes } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { countRow, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { withinBytes } from "./pages.ts";
import type { SequenceRange } from "./journal-spans.ts";

/** An account's lines, or those of them in one transaction currency: then amounts are in it, and else in functional currency. */
export interface RegisterSubject {
  readonly glAccountCode: string;
  readonly currency: string | null;
}

/** Between two lines of a register: everything up to a line is before it. Sequence 0 is before all lines of its date. */
export interface RegisterPlace {
  readonly transactionDate: Timestamp;
  readonly sequence: number;
  readonly lineNumber: number;
}

/** The place before all lines of a moment. */
export function placeBefore(transactionDate: Timestamp): RegisterPlace {
  return { transactionDate, sequence: 0, lineNumber: 0 };
}

/** What of a register is read: lines after a place (null: from the first on), dated before `to`. */
export interface RegisterRange {
  readonly after: RegisterPlace | null;
  readonly to: Timestamp | null;
}

/** How far a register is read: in registers up to a span's end, and then line by line up to the last sequence. */
export interface RegisterReach {
  readonly registeredSequence: number;
  readonly upToSequence: number;
}

function isOf(column: FragmentSqlToken, { currency }: RegisterSubject): FragmentSqlToken {
  return currency === null ? sql.fragment`` : sql.fragment`AND ${column} = ${currency}`;
}

function amountOf({ currency }: RegisterSubject): FragmentSqlToken {
  return currency === null
    ? sql.fragment`lines.functional_amount`
    : sql.fragment`lines.transaction_amount`;
}

/** Lines of the account with sequences after one and up to another, as `lines`, and their entries' dates, one by one. */
function datedLines(
  ledgerId: string,
  subject: RegisterSubject,
  { afterSequence, upToSequence }: SequenceRange,
): FragmentSqlToken {
  return sql.fragment`
    journal_lines AS lines
    CROSS JOIN LATERAL (
      SELECT transaction_date FROM journal_entries
       WHERE ledger_id = ${ledgerId} AND sequence = lines.sequence OFFSET 0
    ) AS entries
    WHERE lines.ledger_id = ${ledgerId} AND lines.gl_account_code = ${subject.glAccountCode}
      AND lines.sequence > ${afterSequence} AND lines.sequence <= ${upToSequence}
      ${isOf(sql.fragment`lines.transaction_currency`, subject)}`;
}

/** The rows of registers of the account, as `days`, in spans that are wholly of the journal as it is read. */
function registeredDays(
  ledgerId: string,
  subject: RegisterSubject,
  { registeredSequence }: RegisterReach,
): FragmentSqlToken {
  return sql.fragment`
    register_days AS days
    WHERE days.ledger_id = ${ledgerId} AND days.gl_account_code = ${subject.glAccountCode}
      AND days.ends_at_sequence <= ${registeredSequence}
      ${isOf(sql.fragment`days.currency`, subject)}`;
}

/** A query of the places of the account's lines, registered or not, on days from one to another, which is included. */
export function placesOn(
  ledgerId: string,
  subject: RegisterSubject,
  reach: RegisterReach,
  { fromDay, lastDay }: { readonly fromDay: string; readonly lastDay: FragmentSqlToken },
): FragmentSqlToken {
  const unregistered = {
    afterSequence: reach.registeredSequence,
    upToSequence: reach.upToSequence,
  };
  return sql.fragment`
    SELECT places.*
      FROM (SELECT * FROM ${registeredDays(ledgerId, subject, reach)}
               AND days.day >= ${fromDay}::date AND days.day <= ${lastDay}) AS days
     CROSS JOIN LATERAL unnest(transaction_dates, sequences, line_numbers)
             AS places (transaction_date, sequence, line_number)
    UNION ALL
    SELECT entries.transaction_date, lines.sequence, lines.line_number
      FROM ${datedLines(ledgerId, subject, unregistered)}`;
}

const sumRow = z.object({ amount: z.bigint(), entryCount: z.number() });

/** What an account's lines come to, and in how many entries they are. */
export type AccountSum = Readonly<z.output<typeof sumRow>>;

/**
 * The sum of an account's lines on the days before one; in what is summed. Entries are counted by their first line: with
 * a currency, `countRegisteredEntries` has to.
 */
export function sumDaysBefore(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  day: string,
): Promise<AccountSum> {
  const amount =
    subject.currency === null
      ? sql.fragment`functional_debits + functional_credits`
      : sql.fragment`debits + credits`;
  return connection.one(sql.type(sumRow)`
    SELECT coalesce(sum(${amount}), 0) AS amount,
           coalesce(sum(entry_count), 0)::bigint AS "entryCount"
      FROM account_days
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${subject.glAccountCode}
       AND day < ${day}::date ${isOf(sql.fragment`currency`, subject)}`);
}

/** In how many entries an account has lines in a currency, on the days before one; in what is registered. */
export async function countRegisteredEntries(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  day: string,
  reach: RegisterReach,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT coalesce(sum(days.entry_count), 0)::bigint AS count
      FROM ${registeredDays(ledgerId, subject, reach)} AND days.day < ${day}::date`);
  return count;
}

/** The sum of the lines dated before a moment (null: of all), of entries with sequences after one and up to another. */
export function sumLinesBefore(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  before: Timestamp | null,
  range: SequenceRange,
): Promise<AccountSum> {
  return connection.one(sql.type(sumRow)`
    SELECT coalesce(sum(${amountOf(subject)}), 0) AS amount,
           count(DISTINCT lines.sequence) AS "entryCount"
      FROM ${datedLines(ledgerId, subject, range)}
       AND entries.transaction_date < ${before ?? "infinity"}`);
}

/** The sum of the lines from the midnight before a place up to the place. */
export function sumLinesOfDay(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  place: RegisterPlace,
  reach: RegisterReach,
): Promise<AccountSum> {
  const { transactionDate, sequence, lineNumber } = place;
  const day = transactionDate.slice(0, 10);
  const days = { fromDay: day, lastDay: sql.fragment`${day}::date` };
  return connection.one(sql.type(sumRow)`
    SELECT coalesce(sum(${amountOf(subject)}), 0) AS amount,
           count(DISTINCT lines.sequence) AS "entryCount"
      FROM (${placesOn(ledgerId, subject, reach, days)}) AS found
     CROSS JOIN LATERAL ${lineAt(ledgerId)} AS lines
     WHERE found.transaction_date >= ${`${day}T00:00:00.000Z`}
       AND (found.transaction_date, found.sequence, found.line_number)
             <= (${transactionDate}::timestamptz, ${sequence}::bigint, ${lineNumber}::smallint)`);
}

/** The line at a place `found`. */
const lineAt = (ledgerId: string): FragmentSqlToken => sql.fragment`
  (SELECT * FROM journal_lines
    WHERE ledger_id = ${ledgerId} AND sequence = found.sequence
      AND line_number = found.line_number LIMIT 1)`;

const lineRow = z.object({
  sequence: z.number(),
  lineNumber: z.number(),
  journalId: z.string(),
  transactionDate: timestampColumn,
  entryType: z.enum(entryTypes),
  description: z.string().nullable(),
  amount: z.bigint(),
  transactionAmount: z.bigint(),
  transactionCurrency: z.string(),
  counterAccounts: z.array(z.string()),
  externalId: z.string().nullable(),
  reversesJournalId: z.string().nullable(),
  reversedByJournalId: z.string().nullable(),
  foundCount: z.number(),
});

/** A line of a register, without what comes of the lines before it. */
export type RegisterRow = Readonly<Omit<z.output<typeof lineRow>, "foundCount">>;

/**
 * A page of a register. It ends early where its JSON would weigh more than `bytesMax`, but never before its first line.
 * `hasMore`: whether lines follow it.
 */
export async function listRegisterLines(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  reach: RegisterReach,
  range: RegisterRange,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): Promise<{ lines: readonly RegisterRow[]; hasMore: boolean }> {
  const rows = await connection.any(sql.type(lineRow)`
    WITH ${findLines(ledgerId, subject, reach, range, limit + 1)},
    page AS (${withinBytes(
      sql.fragment`
        SELECT found.*, ${lineColumns(ledgerId, subject)}
          FROM (SELECT * FROM found ORDER BY 1, 2, 3 LIMIT ${limit}) AS found
          ${lineTables(ledgerId, subject)}`,
      lineBytes,
      sql.fragment`transaction_date, sequence, line_number`,
      bytesMax,
    )})
    SELECT sequence, line_number AS "lineNumber", transaction_date AS "transactionDate",
           "journalId", "entryType", description, amount, "transactionAmount", "transactionCurrency",
           "counterAccounts", "externalId", "reversesJournalId", "reversedByJournalId",
           (SELECT count(*) FROM found) AS "foundCount"
      FROM page ORDER BY transaction_date, sequence, line_number`);
  return { lines: rows, hasMore: rows.length < (rows[0]?.foundCount ?? 0) };
}

/**
 * The places of the first lines of a range, `found`. Only so many days are read as have enough lines: those of the day that
 * the range begins on do not count, since they may come before it.
 */
function findLines(
  ledgerId: string,
  subject: RegisterSubject,
  reach: RegisterReach,
  { after, to }: RegisterRange,
  count: number,
): FragmentSqlToken {
  const fromDay = after?.transactionDate.slice(0, 10) ?? "-infinity";
  const toDay = sql.fragment`${to?.slice(0, 10) ?? "infinity"}::date`;
  const lastDay = sql.fragment`(SELECT day FROM last_day)`;
  return sql.fragment`
    following AS (
      SELECT days.day, days.line_count FROM ${registeredDays(ledgerId, subject, reach)}
         AND days.day > ${fromDay}::date AND days.day <= ${toDay}
       ORDER BY days.day LIMIT ${count}
    ), last_day AS (
      SELECT coalesce(min(day) FILTER (WHERE through >= ${count}), ${toDay}) AS day
        FROM (SELECT day, sum(line_count) OVER (ORDER BY day) AS through FROM following) AS counted
    ), found AS MATERIALIZED (
      SELECT * FROM (${placesOn(ledgerId, subject, reach, { fromDay, lastDay })}) AS places
       WHERE (transaction_date, sequence, line_number)
               > (${after?.transactionDate ?? "-infinity"}::timestamptz, ${after?.sequence ?? 0}::bigint, ${after?.lineNumber ?? 0}::smallint)
         AND transaction_date < ${to ?? "infinity"}
       ORDER BY 1, 2, 3 LIMIT ${count}
    )`;
}

/** Columns of a line `found`, joined with `lineTables`. */
function lineColumns(ledgerId: string, subject: RegisterSubject): FragmentSqlToken {
  return sql.fragment`
    entries.journal_id AS "journalId", entries.entry_type AS "entryType",
    coalesce(lines.description, entries.description) AS description,
    ${amountOf(subject)} AS amount, lines.transaction_amount AS "transactionAmount",
    lines.transaction_currency AS "transactionCurrency", entries.external_id AS "externalId",
    entries.reverses_journal_id AS "reversesJournalId", counters.codes AS "counterAccounts",
    (SELECT reversal_journal_id FROM journal_reversals
      WHERE ledger_id = ${ledgerId} AND journal_id = entries.journal_id) AS "reversedByJournalId"`;
}

/** Joins lines `found` with what is shown of them, each looked up by its key. */
function lineTables(ledgerId: string, { glAccountCode }: RegisterSubject): FragmentSqlToken {
  return sql.fragment`
    CROSS JOIN LATERAL ${lineAt(ledgerId)} AS lines
    CROSS JOIN LATERAL (
      SELECT * FROM journal_entries
       WHERE ledger_id = ${ledgerId} AND sequence = found.sequence LIMIT 1
    ) AS entries
    CROSS JOIN LATERAL (
      SELECT coalesce(json_agg(code ORDER BY first_line), '[]') AS codes
        FROM (
          SELECT gl_account_code AS code, min(line_number) AS first_line FROM journal_lines
           WHERE ledger_id = ${ledgerId} AND sequence = found.sequence
             AND gl_account_code <> ${glAccountCode}
           GROUP BY gl_account_code
        ) AS others
    ) AS counters`;
}

/** About how many bytes a line of a register has as JSON. */
const lineBytes = sql.fragment`
  (500 + octet_length(json_build_array(description, "externalId")::text)
       + octet_length("counterAccounts"::text))`;

// The lines of an account in the order of its register: by transaction date, then sequence, then line.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { entryTypes } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
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

function isOf(of: FragmentSqlToken, { currency }: RegisterSubject): FragmentSqlToken {
  return currency === null
    ? sql.fragment``
    : sql.fragment`AND ${of}.transaction_currency = ${currency}`;
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
      ${isOf(sql.fragment`lines`, subject)}`;
}

const sumRow = z.object({ amount: z.bigint(), entryCount: z.number() });

/** What an account's lines come to, and in how many entries they are. */
export type AccountSum = Readonly<z.output<typeof sumRow>>;

/** The sum of the lines up to a place, of entries with sequences after one and up to another; null: of all. */
export function sumLinesUpTo(
  connection: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  place: RegisterPlace | null,
  range: SequenceRange,
): Promise<AccountSum> {
  return connection.one(sql.type(sumRow)`
    SELECT coalesce(sum(${amountOf(subject)}), 0) AS amount,
           count(DISTINCT lines.sequence) AS "entryCount"
      FROM ${datedLines(ledgerId, subject, range)}
      AND (entries.transaction_date, lines.sequence, lines.line_number)
            <= (${place?.transactionDate ?? "infinity"}::timestamptz, ${place?.sequence ?? 0}::bigint, ${place?.lineNumber ?? 0}::smallint)`);
}

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
  { after, to }: RegisterRange,
  page: { readonly limit: number; readonly bytesMax: number; readonly upToSequence: number },
): Promise<{ lines: readonly RegisterRow[]; hasMore: boolean }> {
  const { glAccountCode } = subject;
  const found = sql.fragment`
    SELECT entries.transaction_date, lines.sequence, lines.line_number
      FROM ${datedLines(ledgerId, subject, { afterSequence: 0, upToSequence: page.upToSequence })}
      AND (entries.transaction_date, lines.sequence, lines.line_number)
            > (${after?.transactionDate ?? "-infinity"}::timestamptz, ${after?.sequence ?? 0}::bigint, ${after?.lineNumber ?? 0}::smallint)
      AND entries.transaction_date < ${to ?? "infinity"}
     ORDER BY 1, 2, 3 LIMIT ${page.limit + 1}`;
  const rows = await connection.any(sql.type(lineRow)`
    WITH found AS MATERIALIZED (${found}),
    page AS (${withinBytes(
      sql.fragment`
        SELECT found.*, ${lineColumns(ledgerId, subject)}
          FROM (SELECT * FROM found ORDER BY 1, 2, 3 LIMIT ${page.limit}) AS found
          ${lineTables(ledgerId, glAccountCode)}`,
      lineBytes,
      sql.fragment`transaction_date, sequence, line_number`,
      page.bytesMax,
    )})
    SELECT sequence, line_number AS "lineNumber", transaction_date AS "transactionDate",
           "journalId", "entryType", description, amount, "transactionAmount", "transactionCurrency",
           "counterAccounts", "externalId", "reversesJournalId", "reversedByJournalId",
           (SELECT count(*) FROM found) AS "foundCount"
      FROM page ORDER BY transaction_date, sequence, line_number`);
  return { lines: rows, hasMore: rows.length < (rows[0]?.foundCount ?? 0) };
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
function lineTables(ledgerId: string, glAccountCode: string): FragmentSqlToken {
  return sql.fragment`
    CROSS JOIN LATERAL (
      SELECT * FROM journal_lines
       WHERE ledger_id = ${ledgerId} AND sequence = found.sequence
         AND line_number = found.line_number LIMIT 1
    ) AS lines
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

// What accounts moved in the columns of a statement: of months and days that are summed, and of entries one by one.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { ColumnSum } from "../core/statement.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { isClosing } from "./day-sums.ts";
import { linesOf } from "./journal-entries.ts";
import type { SequenceRange } from "./journal-spans.ts";
import type { DayRange } from "./whole-days.ts";

/** Column, whether of CLOSING entries and their reversals, amount. */
const sumsRow = z.object({
  glAccountCode: z.string(),
  sums: z.array(z.tuple([z.number(), z.boolean(), z.string()])),
});

/** One row for each account, so that thousands of sums are not as many rows. */
async function listSums(connection: Connection, sums: FragmentSqlToken): Promise<ColumnSum[]> {
  const rows = await connection.any(sql.type(sumsRow)`
    SELECT gl_account_code AS "glAccountCode",
           json_agg(json_build_array(place, is_closing, amount::text)) AS sums
      FROM (${sums}) AS sums
     GROUP BY gl_account_code`);
  return rows.flatMap(({ glAccountCode, sums: ofAccount }) =>
    ofAccount.map(([column, isClosing, amount]) => ({
      ...{ glAccountCode, column, isClosing },
      amount: BigInt(amount),
    })),
  );
}

/**
 * Sums by columns, of days but for `others` among them; in what is summed. `columnDays`: the first day of each column, in order;
 * what is before the first is column 0. `cutDays` are left out.
 */
export function sumDayColumns(
  connection: Connection,
  ledgerId: string,
  columnDays: readonly string[],
  days: DayRange,
  others: DayRange,
  cutDays: readonly string[],
): Promise<ColumnSum[]> {
  return listSums(
    connection,
    sql.fragment`
      SELECT gl_account_code, is_closing, width_bucket(day, ${sql.array(columnDays, "date")}) AS place,
             sum(functional_debits) + sum(functional_credits) AS amount
        FROM account_days
       WHERE ledger_id = ${ledgerId}
         AND day >= ${days.fromDay}::date AND day < ${days.untilDay}::date
         AND NOT (day >= ${others.fromDay}::date AND day < ${others.untilDay}::date)
         AND day <> ALL (${sql.array(cutDays, "date")})
       GROUP BY gl_account_code, is_closing, place`,
  );
}

/** The same of days that are whole months, each in one column; in what is summed by month. */
export function sumMonthColumns(
  connection: Connection,
  ledgerId: string,
  columnDays: readonly string[],
  { fromDay, untilDay }: DayRange,
): Promise<ColumnSum[]> {
  return listSums(
    connection,
    sql.fragment`
      SELECT gl_account_code, is_closing, width_bucket(month, ${sql.array(columnDays, "date")}) AS place,
             sum(amount) AS amount
        FROM journal_months
       CROSS JOIN LATERAL unnest(gl_account_codes, are_closing, functional_amounts)
               AS moved (gl_account_code, is_closing, amount)
       WHERE ledger_id = ${ledgerId} AND month >= ${fromDay}::date AND month < ${untilDay}::date
       GROUP BY gl_account_code, is_closing, place`,
  );
}

/** The same of entries with sequences after one and up to another, dated from one moment to another, one by one. */
export function sumEntryColumns(
  connection: Connection,
  ledgerId: string,
  columnStarts: readonly (Timestamp | "-infinity")[],
  { from, to }: { readonly from: Timestamp | null; readonly to: Timestamp },
  { afterSequence, upToSequence }: SequenceRange,
): Promise<ColumnSum[]> {
  return listSums(
    connection,
    sql.fragment`
      SELECT lines.gl_account_code, ${isClosing(ledgerId)} AS is_closing,
             width_bucket(entries.transaction_date, ${sql.array(columnStarts, "timestamptz")}) AS place,
             sum(lines.functional_amount) AS amount
        FROM journal_entries AS entries
       CROSS JOIN LATERAL ${linesOf(ledgerId)} AS lines
       WHERE entries.ledger_id = ${ledgerId}
         AND entries.transaction_date >= ${from ?? "-infinity"} AND entries.transaction_date < ${to}
         AND entries.sequence > ${afterSequence} AND entries.sequence <= ${upToSequence}
       GROUP BY lines.gl_account_code, is_closing, place`,
  );
}

const dateRow = z.object({ transactionDate: timestampColumn });

/** The earliest transaction date of a ledger's entries; null where there are none. */
export async function findFirstDate(
  connection: Connection,
  ledgerId: string,
): Promise<Timestamp | null> {
  const row = await connection.maybeOne(sql.type(dateRow)`
    SELECT transaction_date AS "transactionDate" FROM journal_entries
     WHERE ledger_id = ${ledgerId} ORDER BY transaction_date LIMIT 1`);
  return row?.transactionDate ?? null;
}

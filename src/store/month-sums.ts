// Sums over a ledger's entries by month, made of the sums by day. A month that has got entries since it was summed has more
// of them than its sums say, and is read by its days until it is summed again.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { ledgerIdRow } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";
import type { DayRange, SummedMonth } from "./whole-days.ts";

/** The month of a row with a `day`, as its first day. */
const monthOfDay = sql.fragment`date_trunc('month', day::timestamp)::date`;

/** Ledgers that have sums by day which months were not looked at for yet. */
export async function listLedgersWithNewDays(connection: Connection): Promise<string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT ledger_id AS "ledgerId" FROM summed_journals WHERE month_sequence <> last_sequence`);
  return rows.map(({ ledgerId }) => ledgerId);
}

const monthRow = z.object({ month: z.string(), isSummed: z.boolean() });

/** The months in which a ledger has entries that are summed by day, in order, and whether the sums by month have these. */
export function listMonths(
  connection: Connection,
  ledgerId: string,
): Promise<readonly SummedMonth[]> {
  return connection.any(sql.type(monthRow)`
    SELECT counted.month::text AS month,
           coalesce(summed.entry_count = counted.entry_count, false) AS "isSummed"
      FROM (
        SELECT ${monthOfDay} AS month, sum(entry_count)::bigint AS entry_count
          FROM journal_days WHERE ledger_id = ${ledgerId}
         GROUP BY 1
      ) AS counted
      LEFT JOIN journal_months AS summed
        ON summed.ledger_id = ${ledgerId} AND summed.month = counted.month
     ORDER BY counted.month`);
}

const inOrder = sql.fragment`ORDER BY gl_account_code, is_closing`;

/** A query of the rows of `journal_months`, without their ledger, that come of rows of `account_days` and `journal_days`. */
export function selectJournalMonths(
  accountDays: FragmentSqlToken,
  journalDays: FragmentSqlToken,
): FragmentSqlToken {
  return sql.fragment`
    SELECT month, entry_count, gl_account_codes, are_closing, functional_amounts
      FROM (
        SELECT ${monthOfDay} AS month, sum(entry_count)::bigint AS entry_count
          FROM (${journalDays}) AS days
         GROUP BY 1
      ) AS counted
      JOIN (
        SELECT month, array_agg(gl_account_code ${inOrder}) AS gl_account_codes,
               array_agg(is_closing ${inOrder}) AS are_closing,
               array_agg(amount ${inOrder}) AS functional_amounts
          FROM (
            SELECT gl_account_code, is_closing, ${monthOfDay} AS month,
                   sum(functional_debits) + sum(functional_credits) AS amount
              FROM (${accountDays}) AS days
             GROUP BY 1, 2, 3
          ) AS moved
         GROUP BY month
      ) AS summed USING (month)`;
}

/** Sums the months of some days, which are whole months, anew; under the lock of the ledger's sums. */
export function upsertMonths(
  connection: Connection,
  ledgerId: string,
  { fromDay, untilDay }: DayRange,
): Promise<void> {
  const isWithin = sql.fragment`
    ledger_id = ${ledgerId} AND day >= ${fromDay}::date AND day < ${untilDay}::date`;
  const months = selectJournalMonths(
    sql.fragment`SELECT * FROM account_days WHERE ${isWithin}`,
    sql.fragment`SELECT * FROM journal_days WHERE ${isWithin}`,
  );
  return connection.run(command`
    INSERT INTO journal_months
      (ledger_id, month, entry_count, gl_account_codes, are_closing, functional_amounts)
    SELECT ledger.ledger_id, added.*
      FROM (SELECT ledger_id FROM summed_journals WHERE ledger_id = ${ledgerId}) AS ledger
      CROSS JOIN (${months}) AS added
    ON CONFLICT (ledger_id, month) DO UPDATE
       SET entry_count = EXCLUDED.entry_count,
           gl_account_codes = EXCLUDED.gl_account_codes,
           are_closing = EXCLUDED.are_closing,
           functional_amounts = EXCLUDED.functional_amounts`);
}

/** Says that the sums by month have all that is summed by day. */
export function updateMonthSequence(connection: Connection, ledgerId: string): Promise<void> {
  return connection.run(command`
    UPDATE summed_journals SET month_sequence = last_sequence WHERE ledger_id = ${ledgerId}`);
}

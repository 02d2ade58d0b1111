// Sums by day that are not those of the entries: computed anew from entries and lines, and compared.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import type { Connection } from "../database/connection.ts";
import {
  selectAccountDays,
  selectAccountSpans,
  selectDaySpans,
  selectJournalDays,
} from "../day-sums.ts";
import { selectJournalMonths } from "../month-sums.ts";
import { selectRegisterDays } from "../register-days.ts";
import { countRow } from "../columns.ts";
import { foundRow, type FoundRow } from "./journal.ts";
import { sql } from "../database/statement.ts";

const whole = { afterSequence: sql.fragment`0`, upToSequence: sql.fragment`summed.last_sequence` };
const wholeMonths = {
  afterSequence: sql.fragment`0`,
  upToSequence: sql.fragment`summed.month_sequence`,
};
const span = {
  afterSequence: sql.fragment`spans.after_sequence`,
  upToSequence: sql.fragment`spans.ends_at_sequence`,
};
const registerSpan = {
  afterSequence: sql.fragment`register_ends.after_sequence`,
  upToSequence: sql.fragment`register_ends.ends_at_sequence`,
};

/** A table of sums: what names a row, and the row of the same name that its entries come to. */
interface SumTable {
  readonly name: string;
  readonly key: readonly string[];
  /** How a finding names the row, as SQL over its key. */
  readonly where: FragmentSqlToken;
  readonly columns: readonly string[];
  readonly compute: (ledgerId: string) => FragmentSqlToken;
}

const account = sql.fragment`'account ' || to_json(gl_account_code)`;

const tables: readonly SumTable[] = [
  {
    name: "account_days",
    key: ["gl_account_code", "day", "currency", "is_closing"],
    where: sql.fragment`
      ${account} || ' on ' || day || ' in ' || currency || CASE WHEN is_closing THEN ' (CLOSING)' ELSE '' END`,
    columns: ["debits", "credits", "functional_debits", "functional_credits", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT days.* FROM summed CROSS JOIN LATERAL (${selectAccountDays(ledgerId, whole)}) AS days`,
  },
  {
    name: "journal_days",
    key: ["day"],
    where: sql.fragment`'day ' || day`,
    columns: ["entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT days.* FROM summed CROSS JOIN LATERAL (${selectJournalDays(ledgerId, whole)}) AS days`,
  },
  {
    name: "journal_months",
    key: ["month"],
    where: sql.fragment`'month ' || to_char(month, 'YYYY-MM')`,
    columns: ["entry_count", "gl_account_codes", "are_closing", "functional_amounts"],
    compute: (ledgerId) => sql.fragment`
      SELECT months.* FROM summed CROSS JOIN LATERAL (${selectJournalMonths(
        selectAccountDays(ledgerId, wholeMonths),
        selectJournalDays(ledgerId, wholeMonths),
      )}) AS months`,
  },
  {
    name: "account_spans",
    key: ["gl_account_code", "ends_at_sequence"],
    where: sql.fragment`${account} || ', span up to sequence ' || ends_at_sequence`,
    columns: ["first_sequence", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM spans CROSS JOIN LATERAL (${selectAccountSpans(ledgerId, span)}) AS own`,
  },
  {
    name: "day_spans",
    key: ["day", "ends_at_sequence"],
    where: sql.fragment`'day ' || day || ', span up to sequence ' || ends_at_sequence`,
    columns: ["first_sequence", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM spans CROSS JOIN LATERAL (${selectDaySpans(ledgerId, span)}) AS own`,
  },
  {
    name: "register_spans",
    key: ["ends_at_sequence"],
    where: sql.fragment`'span up to sequence ' || ends_at_sequence`,
    columns: ["ends_at_sequence"],
    compute: (ledgerId) => sql.fragment`
      SELECT ends_at_sequence FROM register_ends
       WHERE ends_at_sequence <= (
         SELECT registered_sequence FROM summed_journals WHERE ledger_id = ${ledgerId})`,
  },
  {
    name: "register_days",
    key: ["gl_account_code", "day", "currency", "ends_at_sequence"],
    where: sql.fragment`
      ${account} || ' on ' || day || ' in ' || currency || ', span up to sequence ' || ends_at_sequence`,
    columns: ["line_count", "entry_count", "transaction_dates", "sequences", "line_numbers"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM register_ends
       CROSS JOIN LATERAL (${selectRegisterDays(ledgerId, registerSpan)}) AS own`,
  },
];

/** How far a ledger is summed, and its spans: as the tables with spans themselves say, which have to agree. */
function selectSpans(ledgerId: string): FragmentSqlToken {
  return sql.fragment`
    summed AS (
      SELECT coalesce(max(last_sequence), 0) AS last_sequence,
             coalesce(max(month_sequence), 0) AS month_sequence
        FROM summed_journals
       WHERE ledger_id = ${ledgerId}
    ), spans AS (
      SELECT ends_at_sequence,
             lag(ends_at_sequence, 1, 0::bigint) OVER (ORDER BY ends_at_sequence) AS after_sequence
        FROM (
          SELECT ends_at_sequence FROM account_spans WHERE ledger_id = ${ledgerId}
          UNION SELECT ends_at_sequence FROM day_spans WHERE ledger_id = ${ledgerId}
          UNION SELECT last_sequence FROM summed
        ) AS ends
       WHERE ends_at_sequence > 0
    ), register_ends AS (
      SELECT ends_at_sequence,
             lag(ends_at_sequence, 1, 0::bigint) OVER (ORDER BY ends_at_sequence) AS after_sequence
        FROM (
          SELECT ends_at_sequence FROM register_spans WHERE ledger_id = ${ledgerId}
          UNION SELECT ends_at_sequence FROM register_days WHERE ledger_id = ${ledgerId}
          UNION SELECT registered_sequence FROM summed_journals WHERE ledger_id = ${ledgerId}
        ) AS ends
       WHERE ends_at_sequence > 0
    )`;
}

/** How many rows of sums a ledger has. */
export async function countSums(connection: Connection, ledgerId: string): Promise<number> {
  const counts = tables.map(
    ({ name }) =>
      sql.fragment`SELECT count(*) FROM ${sql.identifier([name])} WHERE ledger_id = ${ledgerId}`,
  );
  const { count } = await connection.one(sql.type(countRow)`
    SELECT sum(count)::bigint AS count
      FROM (${sql.join(counts, sql.fragment` UNION ALL `)}) AS counts`);
  return count;
}

/**
 * Rows of sums that are not what the entries come to, are missing, or are too many, table by table; and sums that go
 * further than the journal.
 */
export async function* listSumFaults(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly FoundRow[]> {
  yield await connection.any(sql.type(foundRow)`
    SELECT 'summed journal' AS where,
           'goes up to sequence ' || greatest(summed.last_sequence, summed.registered_sequence, summed.month_sequence)
             || ', the journal to '
             || coalesce(heads.last_sequence::text, 'none') AS what,
           1::bigint AS total
      FROM summed_journals AS summed
      LEFT JOIN journal_heads AS heads ON heads.ledger_id = summed.ledger_id
     WHERE summed.ledger_id = ${ledgerId}
       AND greatest(summed.last_sequence, summed.registered_sequence, summed.month_sequence)
             > coalesce(heads.last_sequence, 0)`);
  for (const table of tables) yield await listFaultsOf(connection, ledgerId, table);
}

function listFaultsOf(
  connection: Connection,
  ledgerId: string,
  { name, key, where, columns, compute }: SumTable,
): Promise<readonly FoundRow[]> {
  const names = (some: readonly string[], of?: string) =>
    sql.join(
      some.map((column) => sql.identifier(of === undefined ? [column] : [of, column])),
      sql.fragment`, `,
    );
  return connection.any(sql.type(foundRow)`
    WITH ${selectSpans(ledgerId)}
    SELECT ${where} AS where, what || ' in ' || ${name}::text AS what, count(*) OVER () AS total
      FROM (
        SELECT ${names(key)},
               CASE WHEN own.is_stored IS NULL THEN 'has no row'
                    WHEN computed.is_due IS NULL THEN 'has a row that no entry is for'
                    ELSE 'has figures that are not those of its entries' END AS what
          FROM (SELECT *, true AS is_due FROM (${compute(ledgerId)}) AS entries) AS computed
          FULL JOIN (SELECT *, true AS is_stored FROM ${sql.identifier([name])}
                      WHERE ledger_id = ${ledgerId}) AS own
         USING (${names(key)})
         WHERE ROW (${names(columns, "computed")}) IS DISTINCT FROM ROW (${names(columns, "own")})
      ) AS faults
     ORDER BY 1 LIMIT 20`);
}

// Sums by day and registers: what an audit reads of them, and those that are not what the entries come to, computed anew
// from entries and lines.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
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
import { readPages } from "../pages.ts";
import { columns, listByColumns, valueAt, type ColumnsOf } from "../rows-by-columns.ts";

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

/** The tables of sums, in the order of an audit's findings. */
export const sumTableNames = [
  "account_days",
  "journal_days",
  "journal_months",
  "account_spans",
  "day_spans",
  "register_spans",
  "register_days",
] as const;

export type SumTableName = (typeof sumTableNames)[number];

/** A table of sums: what names a row, and the row of the same name that its entries come to. */
interface SumTable {
  readonly key: readonly string[];
  /** How a finding names the row, as SQL over its key. */
  readonly where: FragmentSqlToken;
  readonly columns: readonly string[];
  readonly compute: (ledgerId: string) => FragmentSqlToken;
}

const account = sql.fragment`'account ' || to_json(gl_account_code)`;

const tables: Readonly<Record<SumTableName, SumTable>> = {
  account_days: {
    key: ["gl_account_code", "day", "currency", "is_closing"],
    where: sql.fragment`
      ${account} || ' on ' || day || ' in ' || currency || CASE WHEN is_closing THEN ' (CLOSING)' ELSE '' END`,
    columns: ["debits", "credits", "functional_debits", "functional_credits", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT days.* FROM summed CROSS JOIN LATERAL (${selectAccountDays(ledgerId, whole)}) AS days`,
  },
  journal_days: {
    key: ["day"],
    where: sql.fragment`'day ' || day`,
    columns: ["entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT days.* FROM summed CROSS JOIN LATERAL (${selectJournalDays(ledgerId, whole)}) AS days`,
  },
  journal_months: {
    key: ["month"],
    where: sql.fragment`'month ' || to_char(month, 'YYYY-MM')`,
    columns: ["entry_count", "gl_account_codes", "are_closing", "functional_amounts"],
    compute: (ledgerId) => sql.fragment`
      SELECT months.* FROM summed CROSS JOIN LATERAL (${selectJournalMonths(
        selectAccountDays(ledgerId, wholeMonths),
        selectJournalDays(ledgerId, wholeMonths),
      )}) AS months`,
  },
  account_spans: {
    key: ["gl_account_code", "ends_at_sequence"],
    where: sql.fragment`${account} || ', span up to sequence ' || ends_at_sequence`,
    columns: ["first_sequence", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM spans CROSS JOIN LATERAL (${selectAccountSpans(ledgerId, span)}) AS own`,
  },
  day_spans: {
    key: ["day", "ends_at_sequence"],
    where: sql.fragment`'day ' || day || ', span up to sequence ' || ends_at_sequence`,
    columns: ["first_sequence", "entry_count"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM spans CROSS JOIN LATERAL (${selectDaySpans(ledgerId, span)}) AS own`,
  },
  register_spans: {
    key: ["ends_at_sequence"],
    where: sql.fragment`'span up to sequence ' || ends_at_sequence`,
    columns: ["ends_at_sequence"],
    compute: (ledgerId) => sql.fragment`
      SELECT ends_at_sequence FROM register_ends
       WHERE ends_at_sequence <= (
         SELECT registered_sequence FROM summed_journals WHERE ledger_id = ${ledgerId})`,
  },
  register_days: {
    key: ["gl_account_code", "day", "currency", "ends_at_sequence"],
    where: sql.fragment`
      ${account} || ' on ' || day || ' in ' || currency || ', span up to sequence ' || ends_at_sequence`,
    columns: ["line_count", "entry_count", "transaction_dates", "sequences", "line_numbers"],
    compute: (ledgerId) => sql.fragment`
      SELECT own.* FROM register_ends
       CROSS JOIN LATERAL (${selectRegisterDays(ledgerId, registerSpan)}) AS own`,
  },
};

/** The same as `journal_months`, where the sums by day are those of the entries and months are summed as far. */
const monthsOfDays: SumTable = {
  ...tables.journal_months,
  compute: (ledgerId) =>
    selectJournalMonths(
      sql.fragment`SELECT * FROM account_days WHERE ledger_id = ${ledgerId}`,
      sql.fragment`SELECT * FROM journal_days WHERE ledger_id = ${ledgerId}`,
    ),
};

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
  const counts = sumTableNames.map(
    (name) =>
      sql.fragment`SELECT count(*) FROM ${sql.identifier([name])} WHERE ledger_id = ${ledgerId}`,
  );
  const { count } = await connection.one(sql.type(countRow)`
    SELECT sum(count)::bigint AS count
      FROM (${sql.join(counts, sql.fragment` UNION ALL `)}) AS counts`);
  return count;
}

/** Sums that go further than the journal. */
export function listSumsBeyond(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
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
}

/** Rows of a table of sums that are not what the entries come to, are missing, or are too many. */
export function listSumFaults(
  connection: Connection,
  ledgerId: string,
  name: SumTableName,
): Promise<readonly FoundRow[]> {
  return listFaultsOf(connection, ledgerId, name, tables[name]);
}

/** The same for months, of sums by day that were found to be those of the entries, and are summed by month. */
export function listMonthFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return listFaultsOf(connection, ledgerId, "journal_months", monthsOfDays);
}

function listFaultsOf(
  connection: Connection,
  ledgerId: string,
  name: SumTableName,
  { key, where, columns, compute }: SumTable,
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

const reachRow = z.object({
  summedSequence: z.number(),
  /** Whether all that is summed by day is summed by month. */
  areMonthsSummed: z.boolean(),
  /** Where the spans of registers end, in order. */
  registerEnds: z.array(z.number()),
});

/** How far a ledger's sums and registers go. */
export type SumReach = Readonly<z.output<typeof reachRow>>;

export function readSumReach(connection: Connection, ledgerId: string): Promise<SumReach> {
  return connection.one(sql.type(reachRow)`
    WITH ${selectSpans(ledgerId)}
    SELECT least(last_sequence, ${Number.MAX_SAFE_INTEGER}) AS "summedSequence",
           month_sequence = last_sequence AS "areMonthsSummed",
           (SELECT coalesce(json_agg(ends_at_sequence ORDER BY ends_at_sequence), '[]')
              FROM register_ends) AS "registerEnds"
      FROM summed`);
}

const rowsPerPage = 1_000;

/** Whether a key comes after that of the last row of the page before, of which there may be none. */
function isAfter<Row>(
  key: FragmentSqlToken,
  last: Row | undefined,
  keyOf: (row: Row) => FragmentSqlToken,
): FragmentSqlToken {
  return last === undefined ? sql.fragment`true` : sql.fragment`${key} > ${keyOf(last)}`;
}

/** Figures as texts: what is no whole number has to be found, and not to fail. */
const accountDayRow = z.object({
  glAccountCode: columns.text,
  day: columns.text,
  currency: columns.text,
  isClosing: columns.boolean,
  debits: columns.text,
  credits: columns.text,
  functionalDebits: columns.text,
  functionalCredits: columns.text,
  entryCount: columns.text,
});

function accountDayAt(found: ColumnsOf<typeof accountDayRow>, at: number) {
  return {
    glAccountCode: valueAt(found.glAccountCode, at),
    day: valueAt(found.day, at),
    currency: valueAt(found.currency, at),
    isClosing: valueAt(found.isClosing, at),
    figures: [
      valueAt(found.debits, at),
      valueAt(found.credits, at),
      valueAt(found.functionalDebits, at),
      valueAt(found.functionalCredits, at),
      valueAt(found.entryCount, at),
    ],
  };
}

/** A stored sum of an account's day; its figures are in the order of the table's columns. */
type AuditedAccountDay = Readonly<ReturnType<typeof accountDayAt>>;

/** All stored sums of accounts' days. */
export function readAuditedAccountDays(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly AuditedAccountDay[], void> {
  return readPages(rowsPerPage, (last: AuditedAccountDay | undefined, limit) =>
    listByColumns(
      connection,
      accountDayRow,
      sql.fragment`
      SELECT gl_account_code AS "glAccountCode", day::text AS day, currency, is_closing AS "isClosing",
             trim_scale(debits)::text AS debits, trim_scale(credits)::text AS credits,
             trim_scale(functional_debits)::text AS "functionalDebits",
             trim_scale(functional_credits)::text AS "functionalCredits",
             entry_count::text AS "entryCount"
        FROM account_days
       WHERE ledger_id = ${ledgerId}
         AND ${isAfter(
           sql.fragment`(gl_account_code, day, currency, is_closing)`,
           last,
           (row) => sql.fragment`
               (${row.glAccountCode}, ${row.day}::date, ${row.currency}, ${row.isClosing})`,
         )}
       ORDER BY account_days.gl_account_code, account_days.day, account_days.currency,
                account_days.is_closing
       LIMIT ${limit}`,
      accountDayAt,
    ),
  );
}

const registerDayRow = z.object({
  glAccountCode: columns.text,
  day: columns.text,
  currency: columns.text,
  endsAtSequence: columns.text,
  lineCount: columns.integer,
  entryCount: columns.integer,
  linesHash: columns.text,
});

function registerDayAt(found: ColumnsOf<typeof registerDayRow>, at: number) {
  return {
    glAccountCode: valueAt(found.glAccountCode, at),
    day: valueAt(found.day, at),
    currency: valueAt(found.currency, at),
    endsAtSequence: valueAt(found.endsAtSequence, at),
    lineCount: valueAt(found.lineCount, at),
    entryCount: valueAt(found.entryCount, at),
    linesHash: valueAt(found.linesHash, at),
  };
}

/**
 * A stored day of an account's register. `linesHash` is SHA-256 over the three columns of its lines as PostgreSQL writes
 * arrays, one below the other.
 */
export type AuditedRegisterDay = Readonly<ReturnType<typeof registerDayAt>>;

/** All stored days of registers. */
export function readAuditedRegisterDays(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly AuditedRegisterDay[], void> {
  return readPages(rowsPerPage, (last: AuditedRegisterDay | undefined, limit) =>
    listByColumns(
      connection,
      registerDayRow,
      sql.fragment`
      SELECT gl_account_code AS "glAccountCode", day::text AS day, currency,
             ends_at_sequence::text AS "endsAtSequence", line_count AS "lineCount",
             entry_count AS "entryCount",
             encode(sha256(convert_to(
               transaction_dates::text || chr(10) || sequences::text || chr(10) || line_numbers::text,
               'UTF8')), 'hex') AS "linesHash"
        FROM register_days
       WHERE ledger_id = ${ledgerId}
         AND ${isAfter(
           sql.fragment`(gl_account_code, day, currency, ends_at_sequence)`,
           last,
           (row) => sql.fragment`
               (${row.glAccountCode}, ${row.day}::date, ${row.currency}, ${row.endsAtSequence}::bigint)`,
         )}
       ORDER BY register_days.gl_account_code, register_days.day, register_days.currency,
                register_days.ends_at_sequence
       LIMIT ${limit}`,
      registerDayAt,
    ),
  );
}

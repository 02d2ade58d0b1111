// Lists of entries in any order, and by what is in them: texts, amounts, types. Every entry that may pass is looked at.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { EntryType, StoredEntry } from "../core/journal.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { wholeEntriesIn, type EntryFilter } from "./entry-lists.ts";
import { entryBytes, entryColumns, entryRow, entryTables } from "./journal-entries.ts";
import type { SequenceRange } from "./journal-spans.ts";
import { withinBytes } from "./pages.ts";
import { textPattern } from "./text-patterns.ts";

/** What of entries is looked for; a member that is null does not narrow it. */
export interface EntryContentFilter {
  /** In descriptions, the externalId or a value of the metadata, without regard to case. */
  readonly text: string | null;
  /** Of any line, in functional currency, without its sign. */
  readonly amountMin: bigint | null;
  readonly amountMax: bigint | null;
  readonly entryType: EntryType | null;
}

/** The order of a list; entries of one date are in the order of their sequences. */
export interface EntryOrder {
  readonly order: "sequence" | "date";
  readonly direction: "asc" | "desc";
}

/** In the order of a list: after an entry's sequence (null: from the first on), skipping some, so many. */
export interface SearchPage extends EntryOrder {
  readonly after: number | null;
  readonly offset: number;
  readonly limit: number;
}

const foundRow = z.object({
  /** Of all that pass. */
  total: z.number(),
  /** Of those, after `after`. */
  following: z.number(),
  sequences: z.array(z.number()),
});

/** The entries of a range of sequences that pass: how many, and the sequences of a page of them, in order. */
export function searchEntries(
  connection: Connection,
  ledgerId: string,
  filter: EntryFilter & EntryContentFilter,
  page: SearchPage,
  range: SequenceRange,
): Promise<Readonly<z.output<typeof foundRow>>> {
  const order = orderBy(page);
  const isAsc = page.direction === "asc";
  const isAfter =
    page.after === null
      ? sql.fragment`true`
      : isAsc
        ? sql.fragment`sequence > ${page.after}`
        : sql.fragment`sequence < ${page.after}`;
  return connection.one(sql.type(foundRow)`
    WITH matched AS MATERIALIZED (
      SELECT entries.sequence, entries.transaction_date
        ${wholeEntriesIn(ledgerId, filter, range)} ${contentConditions(ledgerId, filter)}
    )
    SELECT (SELECT count(*) FROM matched) AS total,
           (SELECT count(*) FROM matched WHERE ${isAfter}) AS following,
           (SELECT coalesce(json_agg(sequence ORDER BY ${order}), '[]')
              FROM (SELECT * FROM matched WHERE ${isAfter}
                     ORDER BY ${order} LIMIT ${page.limit} OFFSET ${page.offset}) AS page) AS sequences`);
}

function orderBy({ order, direction }: EntryOrder): FragmentSqlToken {
  if (order === "sequence") {
    return direction === "asc" ? sql.fragment`sequence` : sql.fragment`sequence DESC`;
  }
  return direction === "asc"
    ? sql.fragment`transaction_date, sequence`
    : sql.fragment`transaction_date DESC, sequence DESC`;
}

/** What is looked for in entries `entries`. */
function contentConditions(
  ledgerId: string,
  { text, amountMin, amountMax, entryType }: EntryContentFilter,
): FragmentSqlToken {
  const none = sql.fragment``;
  const hasAmount =
    amountMin === null && amountMax === null
      ? none
      : sql.fragment`
        AND ${hasLine(
          ledgerId,
          sql.fragment`abs(lines.functional_amount) >= ${amountMin ?? 0n}::numeric
            AND abs(lines.functional_amount) <= ${amountMax ?? "infinity"}::numeric`,
        )}`;
  return sql.fragment`
    ${entryType === null ? none : sql.fragment`AND entries.entry_type = ${entryType}`}
    ${hasAmount}
    ${text === null ? none : sql.fragment`AND ${hasText(ledgerId, text)}`}`;
}

/** Compared by code points, whatever the database's collation is: `lower` would know no letters but a to z in some. */
function hasText(ledgerId: string, text: string): FragmentSqlToken {
  const pattern = textPattern(text);
  // As it is written in JSON: what can't be in a value is not in its text, and most entries have no more to be looked at.
  const written = textPattern(JSON.stringify(text).slice(1, -1));
  const matches = (value: FragmentSqlToken) => sql.fragment`${value} COLLATE "C" ~ ${pattern}`;
  return sql.fragment`(
    ${matches(sql.fragment`entries.description`)}
    OR ${matches(sql.fragment`entries.external_id`)}
    OR (entries.metadata <> '{}' AND entries.metadata::text COLLATE "C" ~ ${written} AND EXISTS (
      SELECT 1 FROM jsonb_path_query(entries.metadata, 'strict $.**') AS value
       WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean')
         AND ${matches(sql.fragment`(value #>> '{}')`)}))
    OR ${hasLine(ledgerId, matches(sql.fragment`lines.description`))})`;
}

/**
 * Whether an entry `entries` has a line `lines` for which a condition holds. Not EXISTS: the planner may answer that for all
 * entries at once, from all lines of the ledger.
 */
function hasLine(ledgerId: string, condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(
    SELECT true FROM journal_lines AS lines
     WHERE lines.ledger_id = ${ledgerId} AND lines.sequence = entries.sequence AND ${condition}
     LIMIT 1)`;
}

/**
 * Entries by their sequences, in the order that these have. They end early where their JSON would weigh more than
 * `bytesMax`, but never before the first.
 */
export function listEntriesBySequence(
  connection: Connection,
  ledgerId: string,
  sequences: readonly number[],
  bytesMax: number,
): Promise<readonly StoredEntry[]> {
  const weighed = withinBytes(
    sql.fragment`
      SELECT wanted.sequence, wanted.nth, ${entryBytes(ledgerId)} AS bytes
        FROM unnest(${sql.array(sequences, "int8")}) WITH ORDINALITY AS wanted (sequence, nth)
        CROSS JOIN LATERAL (
          SELECT * FROM journal_entries
           WHERE ledger_id = ${ledgerId} AND sequence = wanted.sequence LIMIT 1
        ) AS entries`,
    sql.fragment`bytes`,
    sql.fragment`nth`,
    bytesMax,
  );
  return connection.any(sql.type(entryRow)`
    SELECT ${entryColumns(ledgerId)}
      FROM ${entryTables(ledgerId)}
      JOIN (${weighed}) AS page ON page.sequence = entries.sequence
     WHERE entries.ledger_id = ${ledgerId} AND entries.sequence = ANY (${sql.array(sequences, "int8")})
     ORDER BY page.nth`);
}

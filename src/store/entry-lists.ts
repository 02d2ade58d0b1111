// Pages of entries, and how many there are.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { StoredEntry } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { countRow } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { entryBytes, entryColumns, entryRow, entryTables } from "./journal-entries.ts";
import { sql } from "./database/statement.ts";
import { withinBytes } from "./pages.ts";
import type { SequenceRange } from "./journal-spans.ts";

/** Which entries a list holds; a member that is null does not narrow it. */
export interface EntryFilter {
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  readonly externalId: string | null;
  readonly glAccountCode: string | null;
}

/** The filter that every entry passes. */
export const everyEntry: EntryFilter = {
  from: null,
  to: null,
  externalId: null,
  glAccountCode: null,
};

const pageRow = entryRow
  .extend({ foundCount: z.number() })
  .transform(({ foundCount, ...entry }) => ({ foundCount, entry }));

/**
 * Entries by sequence, after one and up to another (both of which make the page stable while entries
 * arrive), skipping `offset` of those that pass the filter. A page ends early where its JSON would weigh
 * more than `bytesMax`, but never before its first entry. `hasMore`: whether entries follow the page.
 */
export async function listEntries(
  connection: Connection,
  ledgerId: string,
  page: {
    filter: EntryFilter;
    afterSequence: number;
    upToSequence: number;
    offset: number;
    limit: number;
    bytesMax: number;
  },
): Promise<{ entries: StoredEntry[]; hasMore: boolean }> {
  const weighed = withinBytes(
    sql.fragment`
      SELECT sequence, ${entryBytes(ledgerId)} AS bytes FROM journal_entries AS entries
       WHERE ledger_id = ${ledgerId}
         AND sequence = ANY (
               ARRAY(SELECT sequence FROM found ORDER BY sequence LIMIT ${page.limit}))`,
    sql.fragment`bytes`,
    sql.fragment`sequence`,
    page.bytesMax,
  );
  const rows = await connection.any(sql.type(pageRow)`
    WITH found AS MATERIALIZED (
      SELECT entries.sequence ${entriesIn(ledgerId, page.filter, page)}
       ORDER BY entries.sequence LIMIT ${page.limit + 1} OFFSET ${page.offset}
    )
    SELECT ${entryColumns(ledgerId)}, (SELECT count(*) FROM found) AS "foundCount"
      FROM ${entryTables(ledgerId)}
     WHERE entries.ledger_id = ${ledgerId}
       AND entries.sequence = ANY (
             ARRAY(SELECT sequence FROM (${weighed}) AS page))
     ORDER BY entries.sequence`);
  return {
    entries: rows.map(({ entry }) => entry),
    hasMore: rows.length < (rows[0]?.foundCount ?? 0),
  };
}

/** How many entries after a sequence and up to another pass a filter. */
export async function countEntries(
  connection: Connection,
  ledgerId: string,
  filter: EntryFilter,
  span: SequenceRange,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT count(*) ${entriesIn(ledgerId, filter, span)}`);
  return count;
}

/**
 * FROM and WHERE of the entries `entries` that pass a filter, in a range of sequences. The range is named for entries or
 * for lines, never for both: with statistics from before the journal grew, the planner takes both for empty, and compares
 * every line with every entry.
 */
export function entriesIn(
  ledgerId: string,
  filter: EntryFilter,
  { afterSequence, upToSequence }: SequenceRange,
): FragmentSqlToken {
  const { glAccountCode } = filter;
  const isBetween = sql.fragment`sequence > ${afterSequence} AND sequence <= ${upToSequence}`;
  if (isOfAccountAlone(filter)) {
    return sql.fragment`
      FROM (
        SELECT DISTINCT sequence FROM journal_lines
         WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode} AND ${isBetween}
      ) AS entries`;
  }
  return sql.fragment`
      FROM journal_entries AS entries
     WHERE entries.ledger_id = ${ledgerId} AND ${isBetween}
       ${entryConditions(filter)} ${accountCondition(ledgerId, filter)}`;
}

/** The same, but every column of `entries` is there. */
export function wholeEntriesIn(
  ledgerId: string,
  filter: EntryFilter,
  range: SequenceRange,
): FragmentSqlToken {
  if (!isOfAccountAlone(filter)) return entriesIn(ledgerId, filter, range);
  return sql.fragment`
    FROM (SELECT sequence ${entriesIn(ledgerId, filter, range)}) AS own
   CROSS JOIN LATERAL (
     SELECT * FROM journal_entries
      WHERE ledger_id = ${ledgerId} AND sequence = own.sequence LIMIT 1
   ) AS entries WHERE true`;
}

function isOfAccountAlone({ from, to, externalId, glAccountCode }: EntryFilter): boolean {
  return glAccountCode !== null && from === null && to === null && externalId === null;
}

/** What a filter says of entries `entries` themselves. */
function entryConditions({ from, to, externalId }: EntryFilter): FragmentSqlToken {
  const none = sql.fragment``;
  return sql.fragment`
    ${from === null ? none : sql.fragment`AND entries.transaction_date >= ${from}`}
    ${to === null ? none : sql.fragment`AND entries.transaction_date < ${to}`}
    ${externalId === null ? none : sql.fragment`AND entries.external_id = ${externalId}`}`;
}

function accountCondition(ledgerId: string, { glAccountCode }: EntryFilter): FragmentSqlToken {
  if (glAccountCode === null) return sql.fragment``;
  return sql.fragment`
    AND EXISTS (
      SELECT 1 FROM journal_lines AS lines
       WHERE lines.ledger_id = ${ledgerId} AND lines.gl_account_code = ${glAccountCode}
         AND lines.sequence = entries.sequence)`;
}

// Pages of entries, and how many there are.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { StoredEntry } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { countRow } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { entryBytes, entryColumns, entryRow, entryTables } from "./journal-entries.ts";
import { sql } from "./database/statement.ts";

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
  // Weighed before anything of it is built, so that nobody ever holds more than what is answered.
  const rows = await connection.any(sql.type(pageRow)`
    WITH found AS MATERIALIZED (
      SELECT entries.sequence FROM journal_entries AS entries
       WHERE entries.ledger_id = ${ledgerId} AND ${isBetween(sql.fragment`entries`, page)}
         ${filterCondition(ledgerId, page.filter, page)}
       ORDER BY entries.sequence LIMIT ${page.limit + 1} OFFSET ${page.offset}
    ), weighed AS MATERIALIZED (
      SELECT entries.sequence,
             row_number() OVER (ORDER BY entries.sequence) AS place,
             sum(${entryBytes}) OVER (ORDER BY entries.sequence) AS bytes
        FROM journal_entries AS entries
       WHERE entries.ledger_id = ${ledgerId}
         AND entries.sequence = ANY (
               ARRAY(SELECT sequence FROM found ORDER BY sequence LIMIT ${page.limit}))
    )
    SELECT ${entryColumns}, (SELECT count(*) FROM found) AS "foundCount"
      FROM ${entryTables}
     WHERE entries.ledger_id = ${ledgerId}
       AND entries.sequence = ANY (
             ARRAY(SELECT sequence FROM weighed WHERE place = 1 OR bytes <= ${page.bytesMax}))
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
    SELECT count(*) FROM journal_entries AS entries
     WHERE entries.ledger_id = ${ledgerId} AND ${isBetween(sql.fragment`entries`, span)}
       ${filterCondition(ledgerId, filter, span)}`);
  return count;
}

interface SequenceRange {
  readonly afterSequence: number;
  readonly upToSequence: number;
}

function isBetween(
  table: FragmentSqlToken,
  { afterSequence, upToSequence }: SequenceRange,
): FragmentSqlToken {
  return sql.fragment`${table}.sequence > ${afterSequence} AND ${table}.sequence <= ${upToSequence}`;
}

function filterCondition(
  ledgerId: string,
  { from, to, externalId, glAccountCode }: EntryFilter,
  span: SequenceRange,
): FragmentSqlToken {
  const none = sql.fragment``;
  return sql.fragment`
    ${from === null ? none : sql.fragment`AND entries.transaction_date >= ${from}`}
    ${to === null ? none : sql.fragment`AND entries.transaction_date < ${to}`}
    ${externalId === null ? none : sql.fragment`AND entries.external_id = ${externalId}`}
    ${glAccountCode === null ? none : accountCondition(ledgerId, glAccountCode, span)}`;
}

/** Names the sequences once more: else all lines of the account may be read for a page. */
function accountCondition(
  ledgerId: string,
  glAccountCode: string,
  span: SequenceRange,
): FragmentSqlToken {
  return sql.fragment`
    AND EXISTS (
      SELECT 1 FROM journal_lines AS lines
       WHERE lines.ledger_id = ${ledgerId} AND lines.gl_account_code = ${glAccountCode}
         AND lines.sequence = entries.sequence AND ${isBetween(sql.fragment`lines`, span)})`;
}

// Reading the journal: one entry, pages of entries, counts.
import { sql, type FragmentSqlToken } from "slonik";
import { z } from "zod";
import type { StoredEntry } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { entryColumns, entryFromRow, entryRow, entryTables } from "./entry-rows.ts";
import type { ReadConnection } from "./read-pool.ts";

/** Which entries a list holds; a member that is null does not narrow it. */
export interface EntryFilter {
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  readonly externalId: string | null;
  readonly glAccountCode: string | null;
}

export async function findEntry(
  pool: ReadConnection,
  ledgerId: string,
  journalId: string,
): Promise<StoredEntry | null> {
  const row = await pool.maybeOne(sql.type(entryRow)`
    SELECT ${entryColumns} FROM ${entryTables}
     WHERE entries.ledger_id = ${ledgerId} AND entries.journal_id = ${journalId}`);
  return row === null ? null : entryFromRow(row);
}

/**
 * Entries by sequence, after one and up to another (both of which make the page stable while entries
 * arrive), skipping `offset` of those that pass the filter.
 */
export async function listEntries(
  pool: ReadConnection,
  ledgerId: string,
  page: {
    filter: EntryFilter;
    afterSequence: number;
    upToSequence: number;
    offset: number;
    limit: number;
  },
): Promise<StoredEntry[]> {
  const rows = await pool.any(sql.type(entryRow)`
    SELECT ${entryColumns} FROM ${entryTables}
     WHERE entries.ledger_id = ${ledgerId}
       AND entries.sequence > ${page.afterSequence} AND entries.sequence <= ${page.upToSequence}
       ${filterCondition(ledgerId, page.filter)}
     ORDER BY entries.sequence LIMIT ${page.limit} OFFSET ${page.offset}`);
  return rows.map(entryFromRow);
}

/** How many entries up to a sequence pass a filter. */
export async function countEntries(
  pool: ReadConnection,
  ledgerId: string,
  filter: EntryFilter,
  upToSequence: number,
): Promise<number> {
  const { count } = await pool.one(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM journal_entries AS entries
     WHERE entries.ledger_id = ${ledgerId} AND entries.sequence <= ${upToSequence}
       ${filterCondition(ledgerId, filter)}`);
  return count;
}

function filterCondition(ledgerId: string, filter: EntryFilter): FragmentSqlToken {
  const conditions: FragmentSqlToken[] = [];
  if (filter.from !== null) {
    conditions.push(sql.fragment`AND entries.transaction_date >= ${filter.from}`);
  }
  if (filter.to !== null) {
    conditions.push(sql.fragment`AND entries.transaction_date < ${filter.to}`);
  }
  if (filter.externalId !== null) {
    conditions.push(sql.fragment`AND entries.external_id = ${filter.externalId}`);
  }
  if (filter.glAccountCode !== null) {
    conditions.push(sql.fragment`AND EXISTS (
      SELECT 1 FROM journal_lines AS lines
       WHERE lines.ledger_id = ${ledgerId} AND lines.gl_account_code = ${filter.glAccountCode}
         AND lines.sequence = entries.sequence)`);
  }
  return conditions.length === 0
    ? sql.fragment``
    : sql.fragment`${sql.join(conditions, sql.fragment` `)}`;
}

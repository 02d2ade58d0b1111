// Entries with their lines and reversals. Keys are looked up one by one: LIMIT 1 keeps the planner from joining
// all of a ledger instead, which it thinks is small as long as its statistics are from before the ledger grew
// (measured at 20,000 entries: 8 ms against 0.2 ms).
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { canonicalJson, entryLeaf } from "../core/canonical.ts";
import { entryTypes, type Entry, type Line, type StoredEntry } from "../core/journal.ts";
import { jsonObjectColumn, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { withKeyConflict } from "./database/errors.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

/** Columns of an entry `entries` by itself. */
const contentColumns = sql.fragment`
  entries.ledger_id AS "ledgerId", entries.journal_id AS "journalId",
  entries.sequence, entries.external_id AS "externalId",
  entries.origin_system AS "originSystem", entries.origin_account AS "originAccount",
  entries.event_type AS "eventType", entries.description,
  entries.transaction_date AS "transactionDate", entries.entry_type AS "entryType",
  'POSTED' AS "postingStatus", entries.metadata, entries.persisted_at AS "persistedAt",
  entries.reverses_journal_id AS "reversesJournalId"`;

/** A line of `journal_lines`, as a JSON array. */
const lineArray = sql.fragment`
  json_build_array(gl_account_code, description, transaction_amount::text, transaction_currency,
                   functional_amount::text, functional_currency, spot_rate)`;

/**
 * Columns of an entry `entries` of a ledger, joined with `reversals`; lines are one JSON array in stored order. An entry
 * that somebody took the lines of has none: it is read as it is, so that whoever checks can name it.
 */
export const entryColumns = (ledgerId: string): FragmentSqlToken => sql.fragment`
  ${contentColumns}, reversals.reversal_journal_id AS "reversedByJournalId",
  (SELECT coalesce(json_agg(${lineArray} ORDER BY line_number), '[]')
     FROM journal_lines
    WHERE journal_lines.ledger_id = ${ledgerId}
      AND journal_lines.sequence = entries.sequence) AS lines`;

/** Joins entries `entries` with their reversals, `reversals`. */
const joinReversals = (ledgerId: string): FragmentSqlToken => sql.fragment`
  LEFT JOIN LATERAL (
    SELECT reversal_journal_id FROM journal_reversals
     WHERE ledger_id = ${ledgerId} AND journal_id = entries.journal_id
     LIMIT 1
  ) AS reversals ON true`;

/** Entries `entries` of a ledger, with `reversals`. */
export const entryTables = (ledgerId: string): FragmentSqlToken =>
  sql.fragment`journal_entries AS entries ${joinReversals(ledgerId)}`;

/**
 * The lines of an entry `entries`, looked up for each. Without OFFSET the planner is free to join, and where it thinks that
 * a few thousand entries are many, it reads the lines of all ledgers for them.
 */
export const linesOf = (ledgerId: string): FragmentSqlToken => sql.fragment`
  (SELECT * FROM journal_lines
    WHERE ledger_id = ${ledgerId} AND sequence = entries.sequence OFFSET 0)`;

/** About how many bytes an entry `entries` of a ledger has as JSON: its texts as they are escaped, and names of members. */
export const entryBytes = (ledgerId: string): FragmentSqlToken => sql.fragment`
  600 + octet_length(json_build_array(
          entries.external_id, entries.origin_system, entries.origin_account, entries.event_type,
          entries.description, entries.metadata)::text)
      + (SELECT coalesce(sum(140 + octet_length(${lineArray}::text)), 0)
           FROM journal_lines
          WHERE journal_lines.ledger_id = ${ledgerId}
            AND journal_lines.sequence = entries.sequence)`;

/** A line of a `lineArray`, its amounts as bigints. */
const lineRow = z
  .tuple([
    z.string(),
    z.string().nullable(),
    z.string(),
    z.string(),
    z.string(),
    z.string(),
    z.number().nullable(),
  ])
  .transform(
    ([code, description, amount, currency, functional, functionalCurrency, rate]): Line => ({
      glAccountCode: code,
      description,
      transactionAmount: BigInt(amount),
      transactionCurrency: currency,
      functionalAmount: BigInt(functional),
      functionalCurrency,
      spotRate: rate,
    }),
  );

export const entryRow = z.object({
  ledgerId: z.string(),
  journalId: z.string(),
  sequence: z.number(),
  externalId: z.string().nullable(),
  originSystem: z.string().nullable(),
  originAccount: z.string().nullable(),
  eventType: z.string().nullable(),
  description: z.string().nullable(),
  transactionDate: timestampColumn,
  entryType: z.enum(entryTypes),
  postingStatus: z.literal("POSTED"),
  metadata: jsonObjectColumn,
  persistedAt: timestampColumn,
  reversesJournalId: z.string().nullable(),
  reversedByJournalId: z.string().nullable(),
  lines: z.array(lineRow),
});

/** An entry with its lines and whether it has been reversed; null when the ledger has none of this id. */
export async function findEntry(
  connection: Connection,
  ledgerId: string,
  journalId: string,
): Promise<StoredEntry | null> {
  return connection.maybeOne(sql.type(entryRow)`
    SELECT ${entryColumns(ledgerId)} FROM ${entryTables(ledgerId)}
     WHERE entries.ledger_id = ${ledgerId} AND entries.journal_id = ${journalId}`);
}

/** Of the entries named, those that exist, by id, as they stand under the head's lock. */
export async function listOriginals(
  connection: Connection,
  ledgerId: string,
  journalIds: readonly string[],
): Promise<Map<string, StoredEntry>> {
  if (journalIds.length === 0) return new Map();
  const rows = await connection.any(sql.type(entryRow)`
    SELECT ${entryColumns(ledgerId)} FROM unnest(${sql.array(journalIds, "uuid")}) AS wanted (journal_id)
     CROSS JOIN LATERAL (
       SELECT * FROM journal_entries
        WHERE ledger_id = ${ledgerId} AND journal_id = wanted.journal_id
        LIMIT 1
     ) AS entries ${joinReversals(ledgerId)}`);
  return new Map(rows.map((row) => [row.journalId, row]));
}

const firstUseRow = z.object({
  externalId: z.string(),
  journalId: z.string(),
  persistedAt: timestampColumn,
});

/** Of the externalIds named, those in use, with the entry that came first. */
export async function listEntriesByExternalId(
  connection: Connection,
  ledgerId: string,
  externalIds: readonly string[],
): Promise<Map<string, z.output<typeof firstUseRow>>> {
  if (externalIds.length === 0) return new Map();
  const rows = await connection.any(sql.type(firstUseRow)`
    SELECT entries.external_id AS "externalId", entries.journal_id AS "journalId",
           entries.persisted_at AS "persistedAt"
      FROM unnest(${sql.array(externalIds, "text")}) AS wanted (external_id)
      CROSS JOIN LATERAL (
        SELECT external_id, journal_id, persisted_at FROM journal_entries
         WHERE ledger_id = ${ledgerId} AND external_id = wanted.external_id
         LIMIT 1
      ) AS entries`);
  return new Map(rows.map((row) => [row.externalId, row]));
}

/** Records entries, without their lines. Throws KeyConflict when an externalId is in use. */
export function insertEntries(
  connection: Connection,
  ledgerId: string,
  entries: readonly Entry[],
): Promise<unknown> {
  const metadata = entries.map((entry) => canonicalJson(entry.metadata));
  const leaves = entries.map((entry) => `\\x${entryLeaf(entry).toString("hex")}`);
  return withKeyConflict(
    "journal_entries_external_id_key",
    connection.run(command`
      INSERT INTO journal_entries ${newRows(ledgerId, {
        sequence: column(entries, ({ sequence }) => sequence, "int8"),
        journal_id: column(entries, ({ journalId }) => journalId, "uuid"),
        external_id: column(entries, ({ externalId }) => externalId, "text"),
        origin_system: column(entries, ({ originSystem }) => originSystem, "text"),
        origin_account: column(entries, ({ originAccount }) => originAccount, "text"),
        event_type: column(entries, ({ eventType }) => eventType, "text"),
        description: column(entries, ({ description }) => description, "text"),
        transaction_date: column(entries, ({ transactionDate }) => transactionDate, "timestamptz"),
        entry_type: column(entries, ({ entryType }) => entryType, "text"),
        metadata: sql.array(metadata, "jsonb"),
        persisted_at: column(entries, ({ persistedAt }) => persistedAt, "timestamptz"),
        reverses_journal_id: column(entries, ({ reversesJournalId }) => reversesJournalId, "uuid"),
        leaf: sql.array(leaves, "bytea"),
      })}`),
  );
}

/** Records the lines of entries, numbered from 0 in stored order. */
export function insertLines(
  connection: Connection,
  ledgerId: string,
  entries: readonly Entry[],
): Promise<unknown> {
  const lines: Line[] = [];
  const sequences: number[] = [];
  const lineNumbers: number[] = [];
  for (const entry of entries) {
    entry.lines.forEach((line, lineNumber) => {
      lines.push(line);
      sequences.push(entry.sequence);
      lineNumbers.push(lineNumber);
    });
  }
  return connection.run(command`
    INSERT INTO journal_lines ${newRows(ledgerId, {
      sequence: sql.array(sequences, "int8"),
      line_number: sql.array(lineNumbers, "int2"),
      gl_account_code: column(lines, ({ glAccountCode }) => glAccountCode, "text"),
      description: column(lines, ({ description }) => description, "text"),
      transaction_amount: column(lines, ({ transactionAmount }) => transactionAmount, "numeric"),
      transaction_currency: column(lines, ({ transactionCurrency }) => transactionCurrency, "text"),
      functional_amount: column(lines, ({ functionalAmount }) => functionalAmount, "numeric"),
      functional_currency: column(lines, ({ functionalCurrency }) => functionalCurrency, "text"),
      spot_rate: column(lines, ({ spotRate }) => spotRate, "float8"),
    })}`);
}

/** Records which entries have been reversed, and by which of these. */
export function insertReversals(
  connection: Connection,
  ledgerId: string,
  entries: readonly Entry[],
): Promise<unknown> {
  const reversals = entries.filter(({ reversesJournalId }) => reversesJournalId !== null);
  return connection.run(command`
    INSERT INTO journal_reversals ${newRows(ledgerId, {
      journal_id: column(reversals, ({ reversesJournalId }) => reversesJournalId, "uuid"),
      reversal_journal_id: column(reversals, ({ journalId }) => journalId, "uuid"),
    })}`);
}

// How entries and their lines are read: the columns, the row's shape and the entry it becomes. Reads
// through slonik and locked reads of the write path share it.
import { sql } from "slonik";
import { z } from "zod";
import { entryTypes, type StoredEntry } from "../core/journal.ts";
import { jsonObjectColumn, timestampColumn } from "./columns.ts";

/**
 * Columns of an entry `entries`, joined with `reversals`; lines are one JSON array in stored order. An entry that
 * somebody took the lines of has none: it is read as it is, so that whoever checks can name it.
 */
export const entryColumns = sql.fragment`
  entries.ledger_id AS "ledgerId", entries.journal_id AS "journalId",
  entries.sequence, entries.external_id AS "externalId",
  entries.origin_system AS "originSystem", entries.origin_account AS "originAccount",
  entries.event_type AS "eventType", entries.description,
  entries.transaction_date AS "transactionDate", entries.entry_type AS "entryType",
  entries.metadata, entries.persisted_at AS "persistedAt",
  entries.reverses_journal_id AS "reversesJournalId",
  reversals.reversal_journal_id AS "reversedByJournalId",
  (SELECT coalesce(json_agg(json_build_array(
            gl_account_code, description, transaction_amount::text, transaction_currency,
            functional_amount::text, functional_currency, spot_rate) ORDER BY line_number), '[]')
     FROM journal_lines
    WHERE journal_lines.ledger_id = entries.ledger_id
      AND journal_lines.sequence = entries.sequence) AS lines`;

export const entryTables = sql.fragment`
  journal_entries AS entries
  LEFT JOIN journal_reversals AS reversals
    ON reversals.ledger_id = entries.ledger_id AND reversals.journal_id = entries.journal_id`;

/** About how many bytes an entry `entries` has as JSON: its texts as they are escaped, and the names of members. */
export const entryBytes = sql.fragment`
  600 + octet_length(json_build_array(
          entries.external_id, entries.origin_system, entries.origin_account, entries.event_type,
          entries.description, entries.metadata)::text)
      + (SELECT coalesce(sum(140 + octet_length(json_build_array(
                  gl_account_code, description, transaction_amount::text, transaction_currency,
                  functional_amount::text, functional_currency, spot_rate)::text)), 0)
           FROM journal_lines
          WHERE journal_lines.ledger_id = entries.ledger_id
            AND journal_lines.sequence = entries.sequence)`;

const lineRow = z.tuple([
  z.string(),
  z.string().nullable(),
  z.string(),
  z.string(),
  z.string(),
  z.string(),
  z.number().nullable(),
]);

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
  metadata: jsonObjectColumn,
  persistedAt: timestampColumn,
  reversesJournalId: z.string().nullable(),
  reversedByJournalId: z.string().nullable(),
  lines: z.array(lineRow),
});

export type EntryRow = z.infer<typeof entryRow>;

/** The entry of a row, its amounts as bigints. */
export function entryFromRow(row: EntryRow): StoredEntry {
  return {
    ...row,
    postingStatus: "POSTED",
    lines: row.lines.map(
      ([
        code,
        description,
        transactionAmount,
        transactionCurrency,
        amount,
        currency,
        spotRate,
      ]) => ({
        glAccountCode: code,
        description,
        transactionAmount: BigInt(transactionAmount),
        transactionCurrency,
        functionalAmount: BigInt(amount),
        functionalCurrency: currency,
        spotRate,
      }),
    ),
  };
}

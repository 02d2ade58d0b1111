// The content of entries, which is all that is hashed of them, for whoever reads a whole period.
import * as z from "zod";
import type { EntryContent, LineContent } from "../core/canonical.ts";
import { assert } from "../core/errors.ts";
import { entryTypes, isJsonObject, type EntryType } from "../core/journal.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import type { LeafSpan } from "./journal-spans.ts";
import { withinBytes } from "./pages.ts";
import { columnOf, columns, valueAt, type ColumnsOf } from "./rows-by-columns.ts";

const isEntryType = (value: unknown): value is EntryType =>
  entryTypes.some((type) => type === value);

/** Of an entry by itself, but for what audits read unchecked: its type and its metadata. */
export const contentColumns = {
  sequence: columns.integer,
  journalId: columns.text,
  externalId: columns.textOrNull,
  originSystem: columns.textOrNull,
  originAccount: columns.textOrNull,
  eventType: columns.textOrNull,
  description: columns.textOrNull,
  transactionDate: columns.time,
  persistedAt: columns.time,
  reversesJournalId: columns.textOrNull,
};

const entryColumns = z.object({
  ...contentColumns,
  entryType: columnOf(isEntryType),
  metadata: columnOf(isJsonObject),
});

const lineColumns = z.object({
  sequence: columns.integer,
  glAccountCode: columns.text,
  description: columns.textOrNull,
  transactionAmount: columns.text,
  transactionCurrency: columns.text,
  functionalAmount: columns.text,
  functionalCurrency: columns.text,
  spotRate: columns.numberOrNull,
});

const pageRow = z.object({ entries: entryColumns, lines: lineColumns });

/**
 * The first entries of a span, by sequence, their amounts as texts: at most `limit`, and no more than weigh about
 * `bytesMax` as JSON, but one at least. An entry that somebody took the lines of has none.
 */
export async function listEntryContents(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): Promise<EntryContent[]> {
  const weighed = withinBytes(
    sql.fragment`SELECT sequence, sum(bytes) AS bytes FROM parts GROUP BY sequence`,
    sql.fragment`bytes`,
    sql.fragment`sequence`,
    bytesMax,
  );
  // A column is one value: values for each entry and line took the database twice, and their reader three times as long.
  const { entries, lines } = await connection.one(sql.type(pageRow)`
    WITH found AS MATERIALIZED (
      SELECT sequence,
             600 + octet_length(metadata::text) + octet_length(to_json(concat(
               external_id, origin_system, origin_account, event_type, description))::text) AS bytes
        FROM journal_entries
       WHERE ledger_id = ${ledgerId}
         AND sequence > ${span.afterSequence} AND sequence <= ${span.upToSequence}
         AND transaction_date >= ${span.startsAt ?? "-infinity"}
         AND transaction_date < ${span.endsAt}
       ORDER BY sequence LIMIT ${limit}
    ), parts AS (
      SELECT sequence, bytes FROM found
      UNION ALL
      SELECT sequence, 280 + octet_length(to_json(concat(gl_account_code, description))::text)
        FROM journal_lines
       WHERE ledger_id = ${ledgerId} AND sequence = ANY (ARRAY(SELECT sequence FROM found))
    ), page AS MATERIALIZED (
      SELECT ARRAY(SELECT sequence FROM (${weighed}) AS page) AS sequences
    )
    SELECT (
      SELECT json_build_object(
               'sequence', coalesce(json_agg(sequence), '[]'),
               'journalId', coalesce(json_agg(journal_id), '[]'),
               'externalId', coalesce(json_agg(external_id), '[]'),
               'originSystem', coalesce(json_agg(origin_system), '[]'),
               'originAccount', coalesce(json_agg(origin_account), '[]'),
               'eventType', coalesce(json_agg(event_type), '[]'),
               'description', coalesce(json_agg(description), '[]'),
               'transactionDate', coalesce(json_agg(transaction_date::text), '[]'),
               'entryType', coalesce(json_agg(entry_type), '[]'),
               'metadata', coalesce(json_agg(metadata), '[]'),
               'persistedAt', coalesce(json_agg(persisted_at::text), '[]'),
               'reversesJournalId', coalesce(json_agg(reverses_journal_id), '[]'))
        FROM (
          SELECT * FROM journal_entries
           WHERE ledger_id = ${ledgerId} AND sequence = ANY ((SELECT sequences FROM page)::bigint[])
           ORDER BY sequence
        ) AS ordered
    ) AS entries, (
      SELECT json_build_object(
               'sequence', coalesce(json_agg(sequence), '[]'),
               'glAccountCode', coalesce(json_agg(gl_account_code), '[]'),
               'description', coalesce(json_agg(description), '[]'),
               'transactionAmount', coalesce(json_agg(transaction_amount::text), '[]'),
               'transactionCurrency', coalesce(json_agg(transaction_currency), '[]'),
               'functionalAmount', coalesce(json_agg(functional_amount::text), '[]'),
               'functionalCurrency', coalesce(json_agg(functional_currency), '[]'),
               'spotRate', coalesce(json_agg(spot_rate), '[]'))
        FROM (
          SELECT * FROM journal_lines
           WHERE ledger_id = ${ledgerId} AND sequence = ANY ((SELECT sequences FROM page)::bigint[])
           ORDER BY sequence, line_number
        ) AS ordered
    ) AS lines`);
  return contentsOf(ledgerId, entries, lines);
}

/** Member by member, as `listByColumns`. */
function contentsOf(
  ledgerId: string,
  entries: ColumnsOf<typeof entryColumns>,
  lines: ColumnsOf<typeof lineColumns>,
): EntryContent[] {
  let line = 0;
  const contents = entries.sequence.map((sequence, at): EntryContent => {
    const own: LineContent[] = [];
    for (; lines.sequence[line] === sequence; line += 1) own.push(lineAt(lines, line));
    return {
      ledgerId,
      journalId: valueAt(entries.journalId, at),
      sequence,
      externalId: valueAt(entries.externalId, at),
      originSystem: valueAt(entries.originSystem, at),
      originAccount: valueAt(entries.originAccount, at),
      eventType: valueAt(entries.eventType, at),
      description: valueAt(entries.description, at),
      transactionDate: valueAt(entries.transactionDate, at),
      entryType: valueAt(entries.entryType, at),
      postingStatus: "POSTED",
      metadata: valueAt(entries.metadata, at),
      persistedAt: valueAt(entries.persistedAt, at),
      reversesJournalId: valueAt(entries.reversesJournalId, at),
      lines: own,
    };
  });
  assert(line === lines.sequence.length, "every line is of an entry of the page");
  return contents;
}

function lineAt(lines: ColumnsOf<typeof lineColumns>, at: number): LineContent {
  return {
    glAccountCode: valueAt(lines.glAccountCode, at),
    description: valueAt(lines.description, at),
    transactionAmount: valueAt(lines.transactionAmount, at),
    transactionCurrency: valueAt(lines.transactionCurrency, at),
    functionalAmount: valueAt(lines.functionalAmount, at),
    functionalCurrency: valueAt(lines.functionalCurrency, at),
    spotRate: valueAt(lines.spotRate, at),
  };
}

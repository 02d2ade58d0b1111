// The content of entries, which is all that is hashed of them, for whoever reads a whole period.
import * as z from "zod";
import type { EntryContent, LineContent } from "../core/canonical.ts";
import { assert } from "../core/errors.ts";
import { entryTypes, isJsonObject, type EntryType } from "../core/journal.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { divideSpan, entriesOfSpan, selectRange, type LeafSpan } from "./journal-spans.ts";
import { readAhead, readPages } from "./pages.ts";
import {
  arraysOf,
  columnOf,
  columns,
  listByColumns,
  valueAt,
  type ColumnsOf,
} from "./rows-by-columns.ts";

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
  lineSequence: columns.integer,
  glAccountCode: columns.text,
  lineDescription: columns.textOrNull,
  transactionAmount: columns.numerals,
  transactionCurrency: columns.text,
  functionalAmount: columns.numerals,
  functionalCurrency: columns.text,
  spotRate: columns.numberOrNull,
});

/** The entries of a period that a close has. */
export interface ClosedEntries extends LeafSpan {
  readonly ledgerId: string;
  /** One more is looked for, which somebody put among them, and no others: that might be all of the journal since. */
  readonly entryCount: number;
}

const entriesPerLook = 2_000;
/** To weigh an entry is to write its JSON: a look at fewer that are heavy takes no longer than one at many that are not. */
const bytesPerLook = 16 * 1024 * 1024;
/** From the first entry of a page to its last: what lies between them is read over. */
const sequencesPerPage = 4_096;

/**
 * All of them by sequence, their amounts as texts, in pages that weigh about `bytesMax` as JSON, or are one entry that weighs
 * more. An entry that somebody took the lines of has none. Reads no further than two pages ahead of its caller; in memory
 * is also what the entries of two looks weigh.
 */
export async function* readEntryContents(
  connection: Connection,
  closed: ClosedEntries,
  bytesMax: number,
): AsyncGenerator<readonly EntryContent[], void> {
  const pages = weighedPages(connection, closed, bytesMax);
  yield* readAhead(pages, (sequences) => listEntryContents(connection, closed.ledgerId, sequences));
}

/** The sequences of pages: entries are weighed by themselves, so that a page need not be there when the next one is read. */
async function* weighedPages(
  connection: Connection,
  closed: ClosedEntries,
  bytesMax: number,
): AsyncGenerator<readonly number[], void> {
  let page: number[] = [];
  let pageBytes = 0;
  for await (const weights of lookAtWeights(connection, closed)) {
    for (const { sequence, bytes } of weights) {
      const [first = sequence] = page;
      const isFull = pageBytes + bytes > bytesMax || sequence - first >= sequencesPerPage;
      if (page.length > 0 && isFull) {
        yield page;
        page = [];
        pageBytes = 0;
      }
      page.push(sequence);
      pageBytes += bytes;
    }
  }
  if (page.length > 0) yield page;
}

/** What entries weigh, a few at first, and as many as can be weighed soon. */
async function* lookAtWeights(
  connection: Connection,
  closed: ClosedEntries,
): AsyncGenerator<readonly ContentWeight[], void> {
  const { ledgerId } = closed;
  const pieces = await divideSpan(connection, ledgerId, closed, entriesPerLook);
  let entries = 0;
  let place = 0;
  yield* readPages<ContentWeight>(entriesPerLook, async (last, limit) => {
    const lastSequence = last?.sequence ?? closed.afterSequence;
    if (lastSequence >= (pieces[place]?.upToSequence ?? Infinity)) place += 1;
    const piece = pieces[place];
    const wanted = Math.min(limit, closed.entryCount + 1 - entries);
    if (piece === undefined || wanted <= 0) return [];
    const afterSequence = Math.max(piece.afterSequence, lastSequence);
    const weights = await listContentWeights(
      connection,
      ledgerId,
      { ...piece, afterSequence },
      wanted,
    );
    const kept = firstWithin(weights, bytesPerLook);
    entries += kept.length;
    return kept;
  });
}

/** The first of them that weigh no more than `bytesMax` together, but one at least. */
function firstWithin(
  weights: readonly ContentWeight[],
  bytesMax: number,
): readonly ContentWeight[] {
  let bytes = 0;
  const end = weights.findIndex((weight) => (bytes += weight.bytes) > bytesMax);
  return end < 0 ? weights : weights.slice(0, Math.max(1, end));
}

const weightRow = z.object({ sequence: columns.integer, bytes: columns.integer });

/** What an entry weighs as JSON, about. To count what is escaped, with up to six bytes for one, would take half as long again. */
interface ContentWeight {
  readonly sequence: number;
  readonly bytes: number;
}

/** What the first entries of a short span weigh, by sequence, `limit` at most. */
export function listContentWeights(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
  limit: number,
): Promise<ContentWeight[]> {
  return listByColumns(
    connection,
    weightRow,
    sql.fragment`
    WITH found AS MATERIALIZED (
      SELECT sequence,
             600 + octet_length(metadata::text) + octet_length(concat(
               external_id, origin_system, origin_account, event_type, description)) AS bytes
        FROM (
          -- By itself: a plan that sorts would weigh all that it sorts.
          SELECT * FROM (${entriesOfSpan(ledgerId, span)}) AS entries
           ORDER BY sequence LIMIT ${limit}
        ) AS first_entries
    ), of_lines AS (
      SELECT sequence,
             sum(280 + octet_length(gl_account_code) + coalesce(octet_length(description), 0)) AS bytes
        FROM journal_lines
       WHERE ledger_id = ${ledgerId} AND sequence = ANY (ARRAY(SELECT sequence FROM found))
       GROUP BY sequence
    )
    SELECT sequence, found.bytes + coalesce(of_lines.bytes, 0) AS bytes
      FROM found LEFT JOIN of_lines USING (sequence) ORDER BY sequence`,
    ({ sequence, bytes }, at) => ({
      sequence: valueAt(sequence, at),
      bytes: valueAt(bytes, at),
    }),
  );
}

const contentRow = z.object({ ...entryColumns.shape, ...lineColumns.shape });

/** The entries that have these sequences, which are in order and not far apart. */
export function listEntryContents(
  connection: Connection,
  ledgerId: string,
  sequences: readonly number[],
): Promise<EntryContent[]> {
  const range = {
    afterSequence: (sequences[0] ?? 0) - 1,
    upToSequence: sequences.at(-1) ?? 0,
  };
  const isWanted = sql.fragment`sequence = ANY (${sql.array(sequences, "int8")})`;
  const entries = selectRange("journal_entries", ledgerId, range);
  const lines = selectRange("journal_lines", ledgerId, range);
  const contentsRow = contentRow.transform((found) => contentsOf(ledgerId, found));
  // A column is one value: values for each entry and line took the database twice, and their reader three times as long.
  return connection.one(sql.type(contentsRow)`
    SELECT * FROM (
      SELECT ${arraysOf(entryColumns)} FROM (
        SELECT sequence, journal_id AS "journalId", external_id AS "externalId",
               origin_system AS "originSystem", origin_account AS "originAccount",
               event_type AS "eventType", description, transaction_date::text AS "transactionDate",
               entry_type AS "entryType", metadata, persisted_at::text AS "persistedAt",
               reverses_journal_id AS "reversesJournalId"
          FROM (${entries}) AS in_range WHERE ${isWanted} ORDER BY sequence
      ) AS ordered
    ) AS entries CROSS JOIN (
      SELECT ${arraysOf(lineColumns)} FROM (
        SELECT sequence AS "lineSequence", gl_account_code AS "glAccountCode",
               description AS "lineDescription", transaction_amount::text AS "transactionAmount",
               transaction_currency AS "transactionCurrency",
               functional_amount::text AS "functionalAmount",
               functional_currency AS "functionalCurrency", spot_rate AS "spotRate"
          FROM (${lines}) AS in_range WHERE ${isWanted} ORDER BY sequence, line_number
      ) AS ordered
    ) AS lines`);
}

/** Member by member, as `listByColumns`. */
function contentsOf(ledgerId: string, found: ColumnsOf<typeof contentRow>): EntryContent[] {
  let line = 0;
  const contents = found.sequence.map((sequence, at): EntryContent => {
    const own: LineContent[] = [];
    for (; found.lineSequence[line] === sequence; line += 1) own.push(lineAt(found, line));
    return {
      ledgerId,
      journalId: valueAt(found.journalId, at),
      sequence,
      externalId: valueAt(found.externalId, at),
      originSystem: valueAt(found.originSystem, at),
      originAccount: valueAt(found.originAccount, at),
      eventType: valueAt(found.eventType, at),
      description: valueAt(found.description, at),
      transactionDate: valueAt(found.transactionDate, at),
      entryType: valueAt(found.entryType, at),
      postingStatus: "POSTED",
      metadata: valueAt(found.metadata, at),
      persistedAt: valueAt(found.persistedAt, at),
      reversesJournalId: valueAt(found.reversesJournalId, at),
      lines: own,
    };
  });
  assert(line === found.lineSequence.length, "every line is of an entry of the page");
  return contents;
}

function lineAt(found: ColumnsOf<typeof lineColumns>, at: number): LineContent {
  return {
    glAccountCode: valueAt(found.glAccountCode, at),
    description: valueAt(found.lineDescription, at),
    transactionAmount: valueAt(found.transactionAmount, at),
    transactionCurrency: valueAt(found.transactionCurrency, at),
    functionalAmount: valueAt(found.functionalAmount, at),
    functionalCurrency: valueAt(found.functionalCurrency, at),
    spotRate: valueAt(found.spotRate, at),
  };
}

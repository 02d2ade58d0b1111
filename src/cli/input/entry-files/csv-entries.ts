// Puts the rows of a CSV together into entries. A row is a line; the rows of an entry stand together.
//
// Rows belong together that have the same externalId. What they say about the entry must then be the
// same, or be left empty after the first row. Rows without an externalId belong together as long as all
// they say about the entry is the same and their amounts do not yet sum to zero: two equal sales in a
// row stay two. An entry part of whose lines already balances needs an externalId to stay whole.
import { linesMax, type JsonObject, type JsonValue } from "../../../core/journal.ts";
import { readCsvRows } from "./csv-rows.ts";
import {
  entryColumns,
  readEntryHeader,
  readEntryMembers,
  readLine,
  type RowTexts,
} from "./csv-columns.ts";
import type { Found } from "./file-entry.ts";

interface Group {
  readonly line: number;
  readonly texts: RowTexts;
  readonly members: JsonObject;
  readonly lines: JsonValue[];
  readonly rowLines: number[];
  /** Of the functional amounts; null once one of them is no whole number. */
  sum: bigint | null;
  fault: string | null;
}

/** Is called once at most: rows were taken apart where their amounts sum to zero. */
export type Remark = (text: string) => void;

/**
 * Yields the entries of a CSV. A row that can't be read is a fault by itself, and the entries before and
 * after it are not posted either: the row may be theirs, and half an entry may well balance.
 * Throws a usage failure where the header is wrong.
 */
export async function* readCsvEntries(
  chunks: AsyncIterable<Buffer>,
  remark: Remark,
): AsyncGenerator<Found> {
  let group: Group | null = null;
  let brokenLine: number | null = null;
  let hasRemarked = false;
  for await (const { line, texts, fault } of readCsvRows(chunks, readEntryHeader)) {
    if (texts === undefined) {
      yield { line, fault };
      brokenLine = line;
      if (group !== null) blame(group, line);
      continue;
    }
    if (group !== null && !belongs(texts, group)) {
      if (!hasRemarked && isSameEntry(texts, group.texts)) {
        hasRemarked = true;
        remark(
          `line ${line}: rows without an externalId are taken for entries of their own where their ` +
            "amounts sum to zero; an externalId tells which rows belong together",
        );
      }
      yield finish(group);
      group = null;
    }
    if (group === null) {
      group = begin(line, texts);
      if (brokenLine !== null) blame(group, brokenLine);
    }
    brokenLine = null;
    addRow(group, line, texts);
  }
  if (group !== null) yield finish(group);
}

function begin(line: number, texts: RowTexts): Group {
  const { value = {}, fault } = readEntryMembers(texts);
  return {
    line,
    texts,
    members: value,
    lines: [],
    rowLines: [],
    sum: 0n,
    fault: fault === undefined ? null : `line ${line}, ${fault}`,
  };
}

function belongs(texts: RowTexts, group: Group): boolean {
  if (texts.externalId !== undefined) return texts.externalId === group.texts.externalId;
  return group.sum !== 0n && isSameEntry(texts, group.texts);
}

function isSameEntry(texts: RowTexts, others: RowTexts): boolean {
  return entryColumns.every((column) => texts[column] === others[column]);
}

function addRow(group: Group, line: number, texts: RowTexts): void {
  const differing = entryColumns.find(
    (column) => texts[column] !== undefined && texts[column] !== group.texts[column],
  );
  if (differing !== undefined) {
    group.fault ??=
      `line ${line}, column ${differing}: differs from line ${group.line}, ` +
      "which is of the same entry";
  }
  const { value = {}, fault } = readLine(texts);
  if (fault !== undefined) group.fault ??= `line ${line}, ${fault}`;
  // One too many is enough for the service to say so.
  if (group.lines.length <= linesMax) {
    group.lines.push(value);
    group.rowLines.push(line);
  }
  const amount = texts.functionalAmount ?? "";
  const isWhole = /^-?[0-9]{1,38}$/.test(amount);
  group.sum = group.sum === null || !isWhole ? null : group.sum + BigInt(amount);
}

function blame(group: Group, brokenLine: number): void {
  group.fault ??= `line ${group.line}: not posted, because line ${brokenLine} can't be read and may belong to this entry`;
}

function finish(group: Group): Found {
  const { line, rowLines, fault } = group;
  if (fault !== null) return { line, fault };
  return { line, rowLines, body: { ...group.members, lines: group.lines } };
}

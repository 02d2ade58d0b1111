// The columns of a CSV of entries, and what a row says about its entry and its line.
import { parseExactJson } from "../../../contract/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/journal.ts";
import { dayFault, parseTimestamp } from "../../../core/time.ts";
import { usageFailure } from "../../failure.ts";
import type { Texts } from "./csv-rows.ts";
import { valueFault } from "./entry-text.ts";
import { findJsonFault, memberName } from "./json-fault.ts";

export const entryColumns = [
  "externalId",
  "transactionDate",
  "eventType",
  "originSystem",
  "originAccount",
  "entryType",
  "description",
  "metadata",
] as const;

/** Column by column, the member of a line. */
export const lineMembers = {
  glAccountCode: "glAccountCode",
  functionalAmount: "functionalAmount",
  functionalCurrency: "functionalCurrency",
  transactionAmount: "transactionAmount",
  transactionCurrency: "transactionCurrency",
  spotRate: "spotRate",
  lineDescription: "description",
} as const;

export type EntryColumn = (typeof entryColumns)[number];
type LineColumn = keyof typeof lineMembers;

const knownColumns = [...entryColumns, ...(Object.keys(lineMembers) as LineColumn[])];

/** The columns of a header of entries. Throws a usage failure. */
export function readEntryHeader(fields: readonly string[]): readonly (keyof RowTexts)[] {
  if (fields.length === 0) throw usageFailure("the CSV is empty; its first row names the columns");
  return readHeader(fields, knownColumns, ["glAccountCode", "functionalAmount"]);
}

/** Checks a header, whose columns may stand in any order. Throws a usage failure. */
export function readHeader<Column extends string>(
  fields: readonly string[],
  columns: readonly Column[],
  needed: readonly Column[],
): readonly Column[] {
  const fail = (what: string) =>
    usageFailure(`line 1: ${what}; the columns are ${columns.join(", ")}`);
  const names = fields.map((name) => name.trim());
  if (names.some((name) => name.includes("\r"))) {
    throw usageFailure(
      "line 1: lines end in CR alone; save the file with lines that end in LF or CRLF",
    );
  }
  refuseOtherSeparators(names);
  const missing = needed.find((name) => !names.includes(name));
  if (missing !== undefined) throw fail(`the header lacks the column ${missing}`);
  return names.map((name, index) => {
    // A misspelt externalId must not silently lose idempotency.
    const column = columns.find((known) => known === name);
    if (column === undefined) throw fail(`the column ${JSON.stringify(name)} is not known`);
    if (names.indexOf(name) !== index) throw fail(`the column ${name} is there twice`);
    return column;
  });
}

/** Spreadsheets write semicolons where the comma is the decimal sign. Throws a usage failure. */
function refuseOtherSeparators(names: readonly string[]): void {
  const [only = ""] = names;
  if (names.length > 1 || !/[;\t]/.test(only)) return;
  const separators = only.includes(";") ? "semicolons" : "tabs";
  throw usageFailure(
    `line 1: the columns are separated by ${separators}; save the file with commas between them (RFC 4180)`,
  );
}

/** `line 7, column functionalAmount`: where in a CSV that is which a JSON pointer into an entry of it names. */
export function placeInCsv(
  entry: { readonly line: number; readonly rowLines: readonly number[] },
  pointer: string,
): string {
  const [, member = "", index = "", field = ""] =
    /^#\/([^/]+)(?:\/([0-9]+)(?:\/([^/]+))?)?/.exec(pointer) ?? [];
  const row = member === "lines" && index !== "" ? entry.rowLines[Number(index)] : undefined;
  const columns = Object.entries(lineMembers);
  const column =
    row === undefined
      ? entryColumns.find((name) => name === member)
      : columns.find(([, name]) => name === field)?.[0];
  return `line ${row ?? entry.line}${column === undefined ? "" : `, column ${column}`}`;
}

export type RowTexts = Texts<EntryColumn | LineColumn>;

export type Read<Value> =
  | { readonly value: Value; readonly fault?: never }
  | { readonly fault: string; readonly value?: never };

/** The members of an entry but its lines. */
export function readEntryMembers(texts: RowTexts): Read<JsonObject> {
  const members: Record<string, JsonValue> = {};
  for (const column of entryColumns) {
    const text = texts[column];
    if (text === undefined) continue;
    if (column === "metadata") {
      const { value, fault } = readMetadata(text);
      if (fault !== undefined) return { fault: `column metadata: ${fault}` };
      members[column] = value;
    } else if (column === "transactionDate") {
      const { value, fault } = readDate(text);
      if (fault !== undefined) return { fault: `column transactionDate: ${fault}` };
      members[column] = value;
    } else members[column] = text;
  }
  return { value: members };
}

export function readLine(texts: RowTexts): Read<JsonObject> {
  const line: Record<string, JsonValue> = {};
  for (const [column, member] of Object.entries(lineMembers)) {
    const text = texts[column as LineColumn];
    if (text === undefined) continue;
    if (column === "spotRate") {
      const { value, fault } = readNumber(text);
      if (fault !== undefined) return { fault: `column spotRate: ${fault}` };
      line[member] = value;
    } else {
      line[member] = text;
    }
  }
  return { value: line };
}

/** Spreadsheets know days; a day is its first instant in UTC, as everywhere on the command line. */
function readDate(text: string): Read<string> {
  const time = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? `${text}T00:00:00.000Z` : text;
  // Of a day that the calendar lacks the service says so, beside whatever else is wrong with the entry.
  if (parseTimestamp(time) !== null || dayFault(text) !== null) return { value: time };
  const forms = "a day such as 2026-03-15 or a time such as 2026-03-15T09:30:00Z";
  return { fault: `must be ${forms}, not ${JSON.stringify(text)}` };
}

function readNumber(text: string): Read<number> {
  if (!/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) {
    return { fault: `must be a number such as 1.0837, not ${JSON.stringify(text)}` };
  }
  const json = parseExactJson(text);
  return json.inexactNumbers.length > 0
    ? { fault: `${text} can't be held exactly` }
    : { value: json.value as number };
}

function readMetadata(text: string): Read<JsonObject> {
  const broken = findJsonFault(text);
  if (broken !== null) {
    const member = memberName(broken.path);
    return { fault: `${member === "" ? "" : `${member}: `}${broken.reason}` };
  }
  const json = parseExactJson(text);
  const fault = valueFault(json);
  if (fault !== null) return { fault };
  return isJsonObject(json.value) ? { value: json.value } : { fault: "must be a JSON object" };
}

// CSV that `entry post` reads: a row a line, the rows of an entry together (RFC 4180, UTF-8, LF).
import { csvLine } from "../../terminal/csv-text.ts";
import {
  entryColumns,
  lineMembers,
  type EntryColumn,
} from "../../input/entry-files/csv-columns.ts";
import { toJson } from "../../terminal/output.ts";
import type { ExportWriter } from "./export-format.ts";
import { postableEntry, type PostableEntry } from "./postable-entry.ts";

export const csvFormat: ExportWriter = {
  head: () => `${csvLine([...entryColumns, ...Object.keys(lineMembers)])}\n`,

  entry: (entry) => {
    const postable = postableEntry(entry);
    const rows = postable.lines.map((line, index) => {
      const ofEntry = entryColumns.map((column) => entryCell(postable, column, index === 0));
      const ofLine = Object.values(lineMembers).map((member) => String(line[member] ?? ""));
      return `${csvLine([...ofEntry, ...ofLine])}\n`;
    });
    return rows.join("");
  },
};

/** Each row says what sorts and filters are made by; metadata, which may be long, is in the first alone. */
function entryCell(entry: PostableEntry, column: EntryColumn, isFirst: boolean): string {
  if (column !== "metadata") return entry[column] ?? "";
  return isFirst && entry.metadata ? toJson(entry.metadata) : "";
}

// Which format a file of entries has: as told, else by its name, else by how it begins.
import { entryBytesMax } from "./file-entry.ts";
import { openBrace, openBracket } from "./json-scan.ts";
import { ReadAhead } from "./read-ahead.ts";

export const entryFormats = ["json", "ndjson", "csv"] as const;
export type EntryFormat = (typeof entryFormats)[number];

/** What is read how; a JSON file holds one entry or an array of them. */
export type EntryLayout = "json object" | "json array" | "ndjson" | "csv" | "empty";

const byteOrderMark = Buffer.from("\ufeff");

/**
 * Finds the layout, and gives back the chunks from their beginning, without a byte order mark. At most
 * one entry is read ahead. What begins with a brace is one JSON entry, unless that ends on its first line
 * and something follows: then it is NDJSON.
 */
export async function findLayout(
  chunks: AsyncGenerator<Buffer>,
  format: EntryFormat | null,
  fileName: string | null,
): Promise<{ layout: EntryLayout; chunks: AsyncGenerator<Buffer> }> {
  const ahead = new ReadAhead(chunks);
  while (ahead.bytes.length < byteOrderMark.length && (await ahead.more()));
  if (ahead.bytes.indexOf(byteOrderMark) === 0) ahead.take(byteOrderMark.length);
  return { layout: await layoutOf(ahead, format, fileName), chunks: ahead.rest() };
}

async function layoutOf(
  ahead: ReadAhead,
  format: EntryFormat | null,
  fileName: string | null,
): Promise<EntryLayout> {
  const told = format ?? formatOfName(fileName);
  if (told === "csv" || told === "ndjson") return told;
  const first = await ahead.endOfSpace(0);
  const byte = ahead.bytes[first];
  if (byte === undefined) return "empty";
  if (byte === openBracket) return "json array";
  if (byte !== openBrace) return told === null ? "csv" : "json object";
  return format === null && (await isOneOfManyLines(ahead, first)) ? "ndjson" : "json object";
}

/** A name ending in .json may still hold NDJSON: it only rules CSV out. */
function formatOfName(fileName: string | null): EntryFormat | null {
  const extension = /\.([a-z]+)$/i.exec(fileName ?? "")?.[1]?.toLowerCase();
  if (extension === "jsonl") return "ndjson";
  return entryFormats.find((format) => format === extension) ?? null;
}

async function isOneOfManyLines(ahead: ReadAhead, first: number): Promise<boolean> {
  const end = await ahead.endOfValue(first);
  if (end === null || end - first > entryBytesMax) return false;
  if (ahead.bytes.subarray(first, end).includes("\n")) return false;
  return (await ahead.endOfSpace(end)) < ahead.bytes.length;
}

// Which format a file of entries has: as told, else by its name, else by how it begins.
import { entryBytesMax } from "./file-entry.ts";
import { isSpace, openBrace, openBracket, ValueScanner } from "./json-scan.ts";

export const entryFormats = ["json", "ndjson", "csv"] as const;
export type EntryFormat = (typeof entryFormats)[number];

/** What is read how; a JSON file holds one entry or an array of them. */
export type EntryLayout = "json object" | "json array" | "ndjson" | "csv" | "empty";

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
  await ahead.passByteOrderMark();
  return { layout: await layoutOf(ahead, format, fileName), chunks: ahead.rest() };
}

async function layoutOf(
  ahead: ReadAhead,
  format: EntryFormat | null,
  fileName: string | null,
): Promise<EntryLayout> {
  const told = format ?? formatOfName(fileName);
  if (told === "csv" || told === "ndjson") return told;
  const first = await ahead.skipSpace(0);
  if (first === null) return "empty";
  const byte = ahead.bytes[first];
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
  const scanner = new ValueScanner();
  let end = -1;
  for (let from = first; end < 0 && from < entryBytesMax;) {
    const { bytes } = ahead;
    end = scanner.scan(bytes, from);
    from = bytes.length;
    if (end < 0 && !(await ahead.more())) return false;
  }
  if (end < 0 || ahead.bytes.subarray(first, end).includes("\n")) return false;
  return (await ahead.skipSpace(end)) !== null;
}

/** Chunks that can be looked at before they are read. */
class ReadAhead {
  readonly #chunks: AsyncGenerator<Buffer>;
  bytes: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Whether there was another chunk. */
  async more(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.bytes = Buffer.concat([this.bytes, next.value]);
    return true;
  }

  async passByteOrderMark(): Promise<void> {
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    while (this.bytes.length < mark.length && (await this.more()));
    if (this.bytes.subarray(0, mark.length).equals(mark)) {
      this.bytes = this.bytes.subarray(mark.length);
    }
  }

  /** The index of the next byte that is no white space, or null at the end. */
  async skipSpace(from: number): Promise<number | null> {
    for (let index = from; ; index += 1) {
      if (index >= this.bytes.length && !(await this.more())) return null;
      if (!isSpace(this.bytes[index])) return index;
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    if (this.bytes.length > 0) yield this.bytes;
    this.bytes = Buffer.alloc(0);
    yield* this.#chunks;
  }
}

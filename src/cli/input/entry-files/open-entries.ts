// A file of entries, opened: what it holds comes out one by one, each with an externalId.
import { CommandFailure, usageFailure } from "../../failure.ts";
import { openByteSource, UnreadableFile, type ByteSource } from "./byte-source.ts";
import { readCsvEntries, type Remark } from "./csv-entries.ts";
import { DerivedIds } from "./derived-id.ts";
import type { Found, FoundEntry, FoundFault } from "./file-entry.ts";
import { findLayout, type EntryFormat, type EntryLayout } from "./format.ts";
import { readJsonArray } from "./json-array.ts";
import { readJsonObject } from "./json-object.ts";
import { readNdjson } from "./ndjson.ts";

/** An entry to post: the file's, or with an externalId derived from it. */
export interface FileEntry extends FoundEntry {
  readonly externalId: string;
}

export interface EntrySource extends Omit<ByteSource, "chunks"> {
  /** Whether the file is one entry, not a list that may happen to hold one. */
  readonly isSingle: boolean;
  /** May be asked for several at once; they come in the file's order. */
  readonly entries: AsyncGenerator<FileEntry | FoundFault>;
}

/** Opens a file, or stdin for null. Throws a usage failure where it can't be read at all. */
export async function openEntries(
  file: string | null,
  format: EntryFormat | null,
  remark: Remark,
): Promise<EntrySource> {
  const source = await openByteSource(file);
  const { layout, chunks } = await findLayout(source.chunks, format, file);
  if (layout === "empty") {
    throw usageFailure(`${file ?? "stdin"} is empty: there is no entry to post`);
  }
  return {
    ...source,
    isSingle: layout === "json object",
    entries: withExternalIds(namingFile(file ?? "stdin", readers[layout](chunks, remark))),
  };
}

const readers: Readonly<
  Record<
    Exclude<EntryLayout, "empty">,
    (chunks: AsyncGenerator<Buffer>, remark: Remark) => AsyncGenerator<Found>
  >
> = {
  "json object": readJsonObject,
  "json array": readJsonArray,
  ndjson: readNdjson,
  csv: readCsvEntries,
};

/** What is wrong with the file as a whole, such as the header of a CSV, is said of the file by its name. */
async function* namingFile(name: string, entries: AsyncGenerator<Found>): AsyncGenerator<Found> {
  try {
    yield* entries;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error instanceof UnreadableFile) throw error;
    throw usageFailure(`${name}: ${error.message}`);
  }
}

async function* withExternalIds(
  entries: AsyncGenerator<Found>,
): AsyncGenerator<FileEntry | FoundFault> {
  const derivedIds = new DerivedIds();
  for await (const found of entries) {
    if (found.fault !== undefined) yield found;
    else {
      const { body, ...place } = found;
      const given = body["externalId"] ?? null;
      const externalId = given ?? derivedIds.next(body);
      yield {
        ...place,
        // One that is no text is the service's to refuse.
        externalId: typeof externalId === "string" ? externalId : JSON.stringify(externalId),
        body: given === null ? { ...body, externalId } : body,
      };
    }
  }
}

// Reads NDJSON: an entry a line. A broken line does not stop the others; blank lines are passed over.
import { readLines } from "./byte-lines.ts";
import { readEntryText } from "./entry-text.ts";
import { entryBytesMax, entryTooLong, type Found } from "./file-entry.ts";

export async function* readNdjson(chunks: AsyncIterable<Buffer>): AsyncGenerator<Found> {
  for await (const { line, bytes } of readLines(chunks, entryBytesMax)) {
    if (bytes === null) yield { line, fault: `line ${line}: ${entryTooLong}` };
    else if (!isBlank(bytes)) yield readEntryText(bytes, { line, column: 1 });
  }
}

function isBlank(bytes: Buffer): boolean {
  // Entries begin with a brace; only what begins with white space has to be looked through.
  return bytes.length === 0 || ((bytes[0] ?? 0) <= 0x20 && bytes.toString("latin1").trim() === "");
}

// Reads a file that is a single entry: one JSON object.
import { readEntryText } from "./entry-text.ts";
import { entryBytesMax, entryTooLong, type Found } from "./file-entry.ts";

export async function* readJsonObject(chunks: AsyncIterable<Buffer>): AsyncGenerator<Found> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > entryBytesMax) {
      yield { line: 1, fault: `line 1: ${entryTooLong}; many entries are NDJSON or an array` };
      return;
    }
  }
  yield readEntryText(Buffer.concat(parts), { line: 1, column: 1 });
}

// Reads a JSON array of entries element by element; only one element is held at a time.
import { countLineFeeds } from "./byte-lines.ts";
import { readEntryText, type TextPosition } from "./entry-text.ts";
import { entryBytesMax, entryTooLong, type Found } from "./file-entry.ts";
import { closeBracket, isSpace, openBracket, ValueScanner } from "./json-scan.ts";
import { findJsonFault } from "./json-fault.ts";

type Expected = "[" | "an entry or ]" | "an entry" | "a comma or ]" | "nothing more";

type Next = Expected | "element" | "broken";

const stopped = "; nothing behind it was read";
const comma = 0x2c;
const lineFeed = 0x0a;

/**
 * Yields the elements. An element that is no entry does not stop the rest; where the array itself is
 * broken, the last thing yielded says so, because where the next element begins is anybody's guess.
 */
export async function* readJsonArray(chunks: AsyncIterable<Buffer>): AsyncGenerator<Found> {
  const cursor = new Cursor();
  let expected: Expected = "[";
  let element: Element | null = null;
  for await (const chunk of chunks) {
    for (let index = 0; index < chunk.length;) {
      if (element !== null) {
        const part: Buffer = element.take(chunk, index);
        cursor.pass(part);
        index += part.length;
        if (!element.isComplete && element.length <= entryBytesMax) continue;
        const { found, isBroken } = element.read();
        yield found;
        if (isBroken) return;
        element = null;
        expected = "a comma or ]";
        continue;
      }
      const byte = chunk[index] ?? 0;
      const next: Next = isSpace(byte) ? expected : expectedAfter(expected, byte);
      if (next === "broken") {
        yield { line: cursor.line, fault: `${cursor.describe()}: ${wrong(expected, byte)}` };
        return;
      }
      if (next === "element") {
        element = new Element(cursor.position());
        continue;
      }
      expected = next;
      cursor.pass(chunk.subarray(index, index + 1));
      index += 1;
    }
  }
  const { line } = element?.start ?? cursor;
  if (element !== null) {
    yield { line, fault: `line ${line}: the file ends inside of the entry that begins here` };
  } else if (expected !== "nothing more") {
    yield { line, fault: `line ${line}: the file ends before the array is closed` };
  }
}

/** Where in the file we are. */
class Cursor {
  line = 1;
  #column = 1;

  pass(bytes: Buffer): void {
    const feeds = countLineFeeds(bytes);
    this.line += feeds;
    this.#column =
      feeds === 0 ? this.#column + bytes.length : bytes.length - bytes.lastIndexOf(lineFeed);
  }

  position(): TextPosition {
    return { line: this.line, column: this.#column };
  }

  describe(): string {
    return `line ${this.line}, column ${this.#column}`;
  }
}

/** An element whose bytes are being gathered. */
class Element {
  readonly start: TextPosition;
  readonly #scanner = new ValueScanner();
  readonly #parts: Buffer[] = [];
  length = 0;
  isComplete = false;

  constructor(start: TextPosition) {
    this.start = start;
  }

  /** What of a chunk, from an index on, is of this element. */
  take(chunk: Buffer, from: number): Buffer {
    const end = this.#scanner.scan(chunk, from);
    const part = chunk.subarray(from, end < 0 ? chunk.length : end);
    this.isComplete = end >= 0;
    this.#parts.push(part);
    this.length += part.length;
    return part;
  }

  read(): { found: Found; isBroken: boolean } {
    const { line } = this.start;
    if (this.length > entryBytesMax) {
      return { found: { line, fault: `line ${line}: ${entryTooLong}${stopped}` }, isBroken: true };
    }
    const bytes = Buffer.concat(this.#parts);
    const found = readEntryText(bytes, this.start);
    const isBroken = found.fault !== undefined && findJsonFault(bytes.toString()) !== null;
    return { found: isBroken ? { line, fault: found.fault + stopped } : found, isBroken };
  }
}

function expectedAfter(expected: Expected, byte: number): Next {
  switch (expected) {
    case "[":
      return byte === openBracket ? "an entry or ]" : "broken";
    case "an entry or ]":
      if (byte === closeBracket) return "nothing more";
      return byte === comma ? "broken" : "element";
    case "an entry":
      return byte === closeBracket || byte === comma ? "broken" : "element";
    case "a comma or ]":
      if (byte === comma) return "an entry";
      return byte === closeBracket ? "nothing more" : "broken";
    case "nothing more":
      return "broken";
  }
}

function wrong(expected: Expected, byte: number): string {
  const found = byte > 0x20 && byte < 0x7f ? JSON.stringify(String.fromCharCode(byte)) : "a byte";
  return `expected ${expected}, found ${found}${expected === "nothing more" ? "" : stopped}`;
}

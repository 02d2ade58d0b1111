// Reads a JSON array of entries element by element; only one element is held at a time.
import { readEntryText } from "./entry-text.ts";
import { entryBytesMax, entryTooLong, type Found } from "./file-entry.ts";
import { findJsonFault } from "./json-fault.ts";
import { ReadAhead } from "./read-ahead.ts";

type Expected = "[" | "an entry or ]" | "an entry" | "a comma or ]" | "nothing more";

/** What is expected after a mark, by what was expected in its place. */
const followers: Readonly<Record<Expected, Readonly<Record<string, Expected>>>> = {
  "[": { "[": "an entry or ]" },
  "an entry or ]": { "]": "nothing more" },
  "an entry": {},
  "a comma or ]": { ",": "an entry", "]": "nothing more" },
  "nothing more": {},
};

const stopped = "; nothing behind it was read";

/**
 * Yields the elements. An element that is no entry does not stop the rest; where the array itself is
 * broken, the last thing yielded says so, because where the next element begins is anybody's guess.
 */
export async function* readJsonArray(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Found> {
  const ahead = new ReadAhead(chunks);
  for (let expected: Expected = "["; ;) {
    ahead.take(await ahead.endOfSpace(0));
    const { line, column, bytes } = ahead;
    if (bytes.length === 0) {
      if (expected === "nothing more") return;
      yield { line, fault: `line ${line}: the file ends before the array is closed` };
      return;
    }
    const mark = bytes.toString("latin1", 0, 1);
    const next: Expected | undefined = followers[expected][mark];
    if (next !== undefined) {
      ahead.take(1);
      expected = next;
    } else if (expected.startsWith("an entry") && mark !== "," && mark !== "]") {
      const { found, isBroken } = await readElement(ahead);
      yield found;
      if (isBroken) return;
      expected = "a comma or ]";
    } else {
      const fault = `line ${line}, column ${column}: ${wrong(expected, mark)}`;
      yield { line, fault };
      return;
    }
  }
}

/** Reads the element that begins here. Of one that is broken, nobody knows where it ends. */
async function readElement(ahead: ReadAhead): Promise<{ found: Found; isBroken: boolean }> {
  const { line, column } = ahead;
  const broken = (fault: string) => ({ found: { line, fault }, isBroken: true });
  const end = await ahead.endOfValue(0);
  if (end === null) {
    return broken(`line ${line}: the file ends inside of the entry that begins here`);
  }
  if (end > entryBytesMax) return broken(`line ${line}: ${entryTooLong}${stopped}`);
  const bytes = ahead.take(end);
  const found = readEntryText(bytes, { line, column });
  const isBroken = found.fault !== undefined && findJsonFault(bytes.toString()) !== null;
  return isBroken ? broken(found.fault + stopped) : { found, isBroken };
}

function wrong(expected: Expected, mark: string): string {
  const found = /[!-~]/.test(mark) ? JSON.stringify(mark) : "a byte";
  return `expected ${expected}, found ${found}${expected === "nothing more" ? "" : stopped}`;
}

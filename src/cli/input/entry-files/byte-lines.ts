// Splits chunks of bytes into lines, holding one line at a time.
import { isUtf8 } from "node:buffer";

const lineFeed = 0x0a;

export interface ByteLine {
  /** From 1. */
  readonly line: number;
  /** Without the line feed; null where the line is longer than allowed. */
  readonly bytes: Buffer | null;
  /** False for a last line without a line feed. */
  readonly isEnded: boolean;
}

/** The lines of a file. A line over `bytesMax` is passed over without being held. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<ByteLine> {
  for await (const group of readLineGroups(chunks, bytesMax)) yield* group;
}

/**
 * The same in groups, those that end in one chunk: to wait for each line by itself takes longer than to split it off. A
 * group has to be read to its end before the next one.
 */
export async function* readLineGroups(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Iterable<ByteLine>> {
  let line = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const hold = (part: Buffer) => {
    length += part.length;
    if (length <= bytesMax) parts.push(part);
    else parts = [];
  };
  const take = (isEnded: boolean): ByteLine => {
    const [only] = parts;
    const whole = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    const taken = { line, bytes: length > bytesMax ? null : whole, isEnded };
    line += 1;
    parts = [];
    length = 0;
    return taken;
  };
  function* split(chunk: Buffer) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end < 0) break;
      hold(chunk.subarray(start, end));
      yield take(true);
      start = end + 1;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  }
  for await (const chunk of chunks) yield split(chunk);
  if (length > 0) yield [take(false)];
}

/** The line of the first byte that is not UTF-8 in a piece of a file that begins on `firstLine`; null for none. */
export function findBrokenUtf8(bytes: Buffer, firstLine: number): number | null {
  if (isUtf8(bytes)) return null;
  // No line feed is part of a longer character, so one of the lines is broken by itself.
  for (let line = firstLine, start = 0; ; line += 1) {
    const end = bytes.indexOf(lineFeed, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

export function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}

// Chunks of a file that can be looked at before they are taken, and where in the file we are.
import { countLineFeeds } from "./byte-lines.ts";
import { entryBytesMax } from "./file-entry.ts";
import { isSpace, ValueScanner } from "./json-scan.ts";

const lineFeed = 0x0a;

export class ReadAhead {
  readonly #chunks: AsyncGenerator<Buffer>;
  /** What has been read and not been taken. */
  bytes: Buffer = Buffer.alloc(0);
  /** Of the first of these bytes, from 1. */
  line = 1;
  column = 1;

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

  /** The next bytes, which must have been read. */
  take(length: number): Buffer {
    const taken = this.bytes.subarray(0, length);
    this.bytes = this.bytes.subarray(length);
    const feeds = countLineFeeds(taken);
    this.line += feeds;
    this.column = feeds === 0 ? this.column + length : length - taken.lastIndexOf(lineFeed);
    return taken;
  }

  /** The index of the next byte that is no white space; at the end of the file, the index after the last byte. */
  async endOfSpace(from: number): Promise<number> {
    for (let index = from; ; index += 1) {
      if (index >= this.bytes.length && !(await this.more())) return index;
      if (!isSpace(this.bytes[index])) return index;
    }
  }

  /**
   * The index after the JSON value that begins at an index, or null where the file ends within it. Of a value that is
   * longer than an entry may be, an index in it beyond that length.
   */
  async endOfValue(from: number): Promise<number | null> {
    const scanner = new ValueScanner();
    for (let index = from; ;) {
      const end = scanner.scan(this.bytes, index);
      if (end >= 0) return end;
      index = this.bytes.length;
      if (index - from > entryBytesMax) return index;
      if (!(await this.more())) return null;
    }
  }

  /** All that has not been taken. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.bytes.length > 0) yield this.bytes;
    this.bytes = Buffer.alloc(0);
    yield* this.#chunks;
  }
}

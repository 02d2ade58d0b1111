// Reading what is in a backup: lines, and rows up to the line that ends them, wherever the pieces are cut.
import { DamagedBackup, endOfRows } from "./backup-format.ts";

const newline = Buffer.from("\n");
/** The end of rows with the newline before it. */
const end = Buffer.from(`\n${endOfRows}`);

/** Reads one after the other; `source` is read as far as needed. */
export class ContentReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line without its end; null where nothing is left. */
  async line(): Promise<string | null> {
    const parts: Buffer[] = [];
    for (;;) {
      const at = this.#rest.indexOf(newline);
      if (at >= 0) {
        parts.push(this.#rest.subarray(0, at));
        this.#rest = this.#rest.subarray(at + 1);
        return Buffer.concat(parts).toString();
      }
      parts.push(this.#rest);
      const chunk = await this.#next();
      if (chunk === null) {
        if (parts.every(({ length }) => length === 0)) return null;
        throw new DamagedBackup("it ends in the middle of a line");
      }
      this.#rest = chunk;
    }
  }

  /** The rows up to their end, in pieces of any length. To be read to the end before anything else is read. */
  async *rows(): AsyncGenerator<Buffer> {
    // Its first byte was handed out already: the newline before what comes.
    let pending = Buffer.concat([newline, this.#rest]);
    for (;;) {
      const at = pending.indexOf(end);
      if (at >= 0) {
        this.#rest = pending.subarray(at + end.length);
        if (at > 0) yield pending.subarray(1, at + 1);
        return;
      }
      // The last bytes may be the beginning of the end.
      const kept = Math.max(0, pending.length - end.length);
      if (kept > 0) yield pending.subarray(1, kept + 1);
      const chunk = await this.#next();
      if (chunk === null) throw new DamagedBackup("it ends in the middle of a table");
      pending = Buffer.concat([pending.subarray(kept), chunk]);
    }
  }

  async #next(): Promise<Buffer | null> {
    const next = await this.#source.next();
    return next.done === true ? null : next.value;
  }
}

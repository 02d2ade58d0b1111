// An account's register from its newest line backwards. The service gives it from the oldest on, within bounds of dates: so
// it is read in spans of time, which grow where little happened and shrink where much did.
import type { Register, RegisterLine } from "../../../client/ledger-client.ts";

export interface RegisterRange {
  readonly from?: string;
  readonly to?: string;
  readonly cursor?: string;
  readonly limit: number;
}

const pageLimit = 100;
const dayMs = 86_400_000;
const firstSpanMs = 31 * dayMs;
/** What happened in a shorter time is read whole. */
const spanMsMin = 60_000;
/** So few lines in a span say that the next may be longer. */
const fewLines = 25;

/** One reading of a register. Lines that are posted meanwhile may be in it or not: who is told of them, begins anew. */
export class BackwardRegister {
  readonly #read: (range: RegisterRange) => Promise<Register>;
  #spanMs = firstSpanMs;
  /** Exclusive end of what is not read yet; null is without end. */
  #toMs: number | null = null;
  readonly #nowMs: number;
  /** Of the oldest line; null before it is known. */
  #oldestMs: number | null = null;
  isComplete = false;

  /** `nowMs`: Unix time; most lines are dated before it. */
  constructor(read: (range: RegisterRange) => Promise<Register>, nowMs: number) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** The next lines, the newest first; none once `isComplete`. */
  async next(): Promise<RegisterLine[]> {
    this.#oldestMs ??= await this.#findOldest();
    while (!this.isComplete) {
      const endMs = this.#toMs ?? this.#nowMs;
      const fromMs = endMs - this.#spanMs;
      const isLast = fromMs <= this.#oldestMs;
      const range = {
        limit: pageLimit,
        ...(isLast ? {} : { from: new Date(fromMs).toISOString() }),
        ...(this.#toMs === null ? {} : { to: new Date(this.#toMs).toISOString() }),
      };
      const page = await this.#read(range);
      if (page.nextCursor !== null && this.#spanMs > spanMsMin) {
        // What is longer than it takes to reach the oldest line says nothing about how much happens.
        const knownMs = Math.min(this.#spanMs, Math.max(endMs - this.#oldestMs, spanMsMin));
        this.#spanMs = Math.max(spanMsMin, Math.floor(knownMs / 8));
        continue;
      }
      const lines = await this.#withRest(page, range);
      this.isComplete = isLast;
      this.#toMs = fromMs;
      if (lines.length < fewLines) this.#spanMs *= 4;
      if (lines.length > 0) return lines.reverse();
    }
    return [];
  }

  async #findOldest(): Promise<number> {
    const { lines } = await this.#read({ limit: 1 });
    const [oldest] = lines;
    if (oldest === undefined) this.isComplete = true;
    return Date.parse(oldest?.transactionDate ?? "1970-01-01T00:00:00Z");
  }

  async #withRest(first: Register, range: RegisterRange): Promise<RegisterLine[]> {
    const lines = [...first.lines];
    for (let cursor = first.nextCursor; cursor !== null;) {
      const page = await this.#read({ ...range, cursor });
      lines.push(...page.lines);
      cursor = page.nextCursor;
    }
    return lines;
  }
}

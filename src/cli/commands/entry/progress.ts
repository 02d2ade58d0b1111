// How far posting has come, told on a line of the terminal.
import { counted } from "../../counted.ts";
import type { EntrySource } from "../../entry-files/open-entries.ts";
import { bar, clock, ProgressLine } from "../../progress-line.ts";

export class Progress {
  readonly #line: ProgressLine;

  constructor(
    isWanted: boolean,
    source: Pick<EntrySource, "bytesRead" | "bytesTotal">,
    handled: () => number,
  ) {
    const startedMs = performance.now();
    this.#line = new ProgressLine(isWanted);
    this.#line.tell(() => {
      const { bytesTotal } = source;
      return describeProgress({
        handled: handled(),
        elapsedMs: performance.now() - startedMs,
        share: bytesTotal === null || bytesTotal === 0 ? null : source.bytesRead() / bytesTotal,
      });
    });
  }

  /** Prints results where they would otherwise run into the line. */
  printBetween(print: () => void): void {
    if (process.stdout.isTTY) this.#line.clear();
    print();
  }

  end(): void {
    this.#line.end();
  }
}

/** `[======>             ] 12345 entries, 2310/s, 34 %, 0:41 left`; the share is null where the file's size is unknown. */
export function describeProgress(state: {
  handled: number;
  elapsedMs: number;
  share: number | null;
}): string {
  const { handled, elapsedMs, share } = state;
  const rate = elapsedMs > 0 ? Math.round((handled * 1000) / elapsedMs) : 0;
  const parts = [counted(handled, "entry", "entries"), `${rate}/s`];
  if (share !== null && share > 0) {
    const done = Math.min(1, share);
    parts[0] = `${bar(done)} ${handled} entries`;
    parts.push(`${Math.floor(done * 100)} %`, `${clock((elapsedMs / done) * (1 - done))} left`);
  }
  return parts.join(", ");
}

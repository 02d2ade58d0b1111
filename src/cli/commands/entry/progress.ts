// How far posting has come, told on a line of the terminal.
import type { EntrySource } from "../../input/entry-files/open-entries.ts";
import { describeProgress, ProgressLine } from "../../terminal/progress-line.ts";

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

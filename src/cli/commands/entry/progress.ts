// How far posting has come, on one line of the terminal that rewrites itself; silent anywhere else.
import { counted } from "../../counted.ts";
import type { EntrySource } from "../../entry-files/open-entries.ts";
import { bar, clock } from "../../progress-line.ts";

const intervalMs = 200;

export class Progress {
  readonly #source: Pick<EntrySource, "bytesRead" | "bytesTotal">;
  readonly #handled: () => number;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | null;
  #shownLength = 0;

  constructor(
    isWanted: boolean,
    source: Pick<EntrySource, "bytesRead" | "bytesTotal">,
    handled: () => number,
  ) {
    this.#source = source;
    this.#handled = handled;
    this.#timer =
      isWanted && process.stderr.isTTY
        ? setInterval(() => {
            this.#show();
          }, intervalMs)
        : null;
  }

  /** Prints results where they would otherwise run into the line. */
  printBetween(print: () => void): void {
    if (this.#shownLength > 0 && process.stdout.isTTY) this.#clear();
    print();
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#clear();
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#startedMs;
    const { bytesTotal } = this.#source;
    const text = describeProgress({
      handled: this.#handled(),
      elapsedMs,
      share: bytesTotal === null || bytesTotal === 0 ? null : this.#source.bytesRead() / bytesTotal,
    }).slice(0, terminalWidth() - 1);
    process.stderr.write(`\r${text.padEnd(this.#shownLength)}`);
    this.#shownLength = text.length;
  }

  #clear(): void {
    if (this.#shownLength > 0) process.stderr.write(`\r${" ".repeat(this.#shownLength)}\r`);
    this.#shownLength = 0;
  }
}

/** A terminal may not know its width. */
function terminalWidth(): number {
  return process.stderr.columns > 0 ? process.stderr.columns : 80;
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

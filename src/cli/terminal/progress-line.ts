// One line of the terminal that rewrites itself while something long is under way; silent anywhere else.
import { counted } from "./counted.ts";
import { terminalWidth } from "./terminal-width.ts";

const intervalMs = 200;

/** What takes less is not worth a line. */
const silentMs = 1_000;

/** The line says what is under way from its second second on, and for how long: `closing, 0:07`. */
export function waitingFor(what: string): (elapsedMs: number) => string {
  return (elapsedMs) => (elapsedMs < silentMs ? "" : `${what}, ${clock(elapsedMs)}`);
}

const barWidth = 20;

/** `[=====>              ]`. */
function bar(share: number): string {
  const filled = Math.floor(Math.min(1, share) * barWidth);
  const head = filled < barWidth ? ">" : "";
  return `[${`${"=".repeat(filled)}${head}`.padEnd(barWidth)}]`;
}

/** `[====>               ] 12345 of 50000 entries, 2310/s, 0:17 left`. */
export function describeShare(state: {
  done: number;
  total: number;
  unit: string;
  elapsedMs: number;
}): string {
  const { done, total, unit, elapsedMs } = state;
  const parts = [`${bar(total === 0 ? 1 : done / total)} ${done} of ${total} ${unit}`];
  if (done > 0 && elapsedMs > 0) {
    parts.push(`${Math.round((done * 1000) / elapsedMs)}/s`);
    parts.push(`${clock((elapsedMs / done) * Math.max(0, total - done))} left`);
  }
  return parts.join(", ");
}

/** `[======>             ] 12345 entries, 2310/s, 34 %, 0:41 left`; the share is null if the file's size is unknown. */
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
    parts[0] = `${bar(done)} ${parts[0] ?? ""}`;
    parts.push(`${Math.floor(done * 100)} %`, `${clock((elapsedMs / done) * (1 - done))} left`);
  }
  return parts.join(", ");
}

/** `0:07`, or `1:39:00`. */
function clock(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  const padded = (value: number) => String(value).padStart(2, "0");
  return hours > 0
    ? `${hours}:${padded(minutes)}:${padded(seconds % 60)}`
    : `${minutes}:${padded(seconds % 60)}`;
}

/** Runs something under a line that says how far it is; `describe` gets the time since it began. */
export async function withProgress<Result>(
  isWanted: boolean,
  describe: (elapsedMs: number) => string,
  run: () => Promise<Result>,
): Promise<Result> {
  const line = new ProgressLine(isWanted);
  line.tell(describe);
  try {
    return await run();
  } finally {
    line.end();
  }
}

/** The lines that stand on the terminal now. */
const shownLines = new Set<ProgressLine>();

/** Takes away what stands on the terminal, for a message that would run into it. */
export function clearProgress(): void {
  for (const line of shownLines) line.clear();
}

let isSilenced = false;

/** From now on no line is shown: something else has the terminal. */
export function silenceProgress(): void {
  clearProgress();
  isSilenced = true;
}

// A command that is interrupted leaves no half of a line for the shell's prompt.
process.on("exit", clearProgress);

export class ProgressLine {
  readonly #timer: NodeJS.Timeout | null;
  #describe: (elapsedMs: number) => string = () => "";
  #startedMs = performance.now();
  #shownLength = 0;

  constructor(isWanted: boolean) {
    this.#timer =
      isWanted && process.stderr.isTTY
        ? setInterval(() => {
            this.#show();
          }, intervalMs)
        : null;
  }

  /** From now on the line says this; `describe` gets the time since now. */
  tell(describe: (elapsedMs: number) => string): void {
    this.#describe = describe;
    this.#startedMs = performance.now();
  }

  /** The line is away until there is something to tell again. */
  rest(): void {
    this.#describe = () => "";
    this.clear();
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.clear();
  }

  /** Takes the line away until it is due again: what is printed now would run into it. */
  clear(): void {
    if (this.#shownLength > 0) process.stderr.write(`\r${" ".repeat(this.#shownLength)}\r`);
    this.#shownLength = 0;
    shownLines.delete(this);
  }

  #show(): void {
    if (isSilenced) return;
    // A terminal may not know its width.
    const width = terminalWidth(process.stderr) ?? 80;
    const text = this.#describe(performance.now() - this.#startedMs).slice(0, width - 1);
    if (text === "") {
      this.clear();
      return;
    }
    process.stderr.write(`\r${text.padEnd(this.#shownLength)}`);
    this.#shownLength = text.length;
    shownLines.add(this);
  }
}

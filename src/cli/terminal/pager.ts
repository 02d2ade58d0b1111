// Results that are longer than the terminal are shown by a pager; what fits is printed as it is.
import { spawn, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { displayWidth } from "./fit-columns.ts";
import { silenceProgress } from "./progress-line.ts";

/** Nobody reads on: thrown where a command would go on to print, and the end of it without a message. */
export class PagerQuit extends Error {
  override readonly name = "PagerQuit";
}

/** Where a command's results go in place of stdout. */
export interface ResultSink {
  /** Whether the terminal is the pager's. */
  readonly isShown: boolean;
  write(text: string): void;
  /** Resolves when more can be taken. Throws PagerQuit where nobody reads on. */
  drained(): Promise<void>;
  /** A remark for stderr, which would run into what is shown. */
  afterwards(text: string): void;
}

/** The pager that is tried where none is named: what has none gets its results as without one. */
const usualPager = "if command -v less >/dev/null 2>&1; then less; else cat; fi";

/** A shell's exit code for a program that is not there. */
const programNotFound = 127;

/**
 * What a shell is given: less shows colours, leaves what it showed on the screen, and ends by itself where that is all.
 * Where the pager is not there, what it was to show is printed.
 */
function scriptOf(pager: string | null): string {
  // Ctrl-C ends the shell no sooner than the pager, for which it may mean something else.
  return `trap : INT
LESS="\${LESS-FRX}"
export LESS
${pager ?? usualPager}
[ $? -ne ${programNotFound} ] || exec cat`;
}

/** Whether somebody set a pager to have none. */
export function isNoPager(pager: string | null): boolean {
  return pager !== null && /^\s*(cat)?\s*$/.test(pager);
}

export class Pager implements ResultSink {
  readonly #script: string;
  /** What is not shown yet: all of it while it fits, later what comes before the pager has begun. */
  #pending = "";
  #rowsTaken = 0;
  #child: ChildProcess | null = null;
  /** What the pager reads, once it has begun. */
  #input: Writable | null = null;
  #begun: Promise<void> = Promise.resolve();
  #ended: Promise<unknown> = Promise.resolve();
  #isOver = false;
  readonly #remarks: string[] = [];

  /** `pager`: a command line for a shell; null for `less`. */
  constructor(pager: string | null) {
    this.#script = scriptOf(pager);
  }

  get isShown(): boolean {
    return this.#child !== null;
  }

  write(text: string): void {
    if (this.#input !== null) {
      if (!this.#isOver) this.#input.write(text);
      return;
    }
    this.#pending += text;
    if (this.#child !== null) return;
    const { columns, rows } = process.stdout;
    this.#rowsTaken += rowsOf(text, columns);
    // The shell's prompt takes a row, too.
    if (this.#rowsTaken >= rows) this.#start();
  }

  async drained(): Promise<void> {
    await this.#begun;
    const input = this.#input;
    if (input?.writableNeedDrain === true && !this.#isOver) {
      await new Promise((resolve) => input.once("drain", resolve).once("close", resolve));
    }
    if (this.#isOver) throw new PagerQuit("the pager was quit");
  }

  afterwards(text: string): void {
    this.#remarks.push(text);
  }

  /** Shows what is left, waits until the reader has seen enough, and tells the remarks. */
  async end(): Promise<void> {
    await this.#begun;
    if (this.#input === null) process.stdout.write(this.#pending);
    else this.#input.end();
    await this.#ended;
    process.off("SIGINT", leaveToPager);
    for (const text of this.#remarks) process.stderr.write(text);
  }

  #start(): void {
    // What Ctrl-C does is the pager's business now, and no line of ours may stand in it.
    process.on("SIGINT", leaveToPager);
    silenceProgress();
    const child = spawn("/bin/sh", ["-c", this.#script], { stdio: ["pipe", "inherit", "inherit"] });
    this.#child = child;
    child.stdin.on("error", () => (this.#isOver = true));
    this.#begun = new Promise((resolve) => {
      child.once("spawn", () => {
        this.#input = child.stdin;
        child.stdin.write(this.#pending);
        resolve();
      });
      // Without a shell there is no pager: all goes to stdout at the end.
      child.once("error", () => {
        resolve();
      });
    });
    this.#ended = new Promise((resolve) => {
      child.once("error", resolve);
      child.once("close", () => {
        this.#isOver = true;
        resolve(null);
      });
    });
  }
}

function leaveToPager(): void {
  // Nothing: the pager gets the signal, too.
}

/** How many rows a text takes that ends with a line's end. */
function rowsOf(text: string, columns: number): number {
  return text
    .replace(/\u001b\[[0-9]+m/g, "")
    .split("\n")
    .slice(0, -1)
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);
}

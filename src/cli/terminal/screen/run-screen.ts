// A live screen: draws frames at a fixed rate, hands on keys, and leaves the terminal as it was on every way out.
// Loaded by commands that have a screen, and only then: ink takes longer to load than all the rest.
import { emitKeypressEvents, type Key } from "node:readline";
import { render, type Instance } from "ink";
import type { ReactElement } from "react";
import { exitCodes } from "../../failure.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ScreenOptions {
  /** The frame as it is to be now, for a size; a row less than the terminal has, which ink would scroll. */
  readonly draw: (size: ScreenSize) => ReactElement;
  /** Is called with the name of each key, such as `down`, or its character. `q` and Ctrl-C are the screen's own. */
  readonly onKey: (key: string, size: ScreenSize) => void;
  /** Whether keys are being typed as a text, in which a `q` is a letter. */
  readonly isTyping?: () => boolean;
  readonly frameMs: number;
  /** What feeds the screen. The screen ends with it, and fails as it fails. */
  readonly source: Promise<unknown>;
}

/** Frames that keys ask for come no faster than this. */
const keyFrameMs = 40;

/** Resolves with the exit code when the person quits or the source ends. Rejects with what went wrong. */
export function runScreen(options: ScreenOptions): Promise<number> {
  return new Screen(options).run();
}

class Screen {
  readonly #options: ScreenOptions;
  #ink: Instance | null = null;
  #frames: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #end: (exitCode: number) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  async run(): Promise<number> {
    const ended = new Promise<number>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.#options.source.then(() => {
      this.#end(exitCodes.done);
    }, this.#fail);
    try {
      this.#enter();
      return await ended;
    } finally {
      this.#leave();
    }
  }

  #enter(): void {
    const { stdin, stdout } = process;
    process.on("exit", this.#leave);
    // What frames, keys and sizes throw comes here, too.
    process.on("uncaughtException", this.#fail);
    process.on("SIGHUP", hangUp);
    stdout.write(enterAlternateScreen + hideCursor + clearScreen);
    // A terminal that only shows (stdin is a file) has no keys; Ctrl-C comes as a signal then.
    if (stdin.isTTY) {
      emitKeypressEvents(stdin);
      stdin.setRawMode(true);
      stdin.on("keypress", this.#onKeyPress);
      stdin.resume();
    }
    stdout.on("resize", this.#onResize);
    this.#mount();
    this.#frames = setInterval(this.#drawFrame, this.#options.frameMs);
  }

  /** Puts the terminal back as it was. Must not throw: it runs at exit, too. */
  readonly #leave = () => {
    const { stdin, stdout } = process;
    process.off("exit", this.#leave);
    process.off("uncaughtException", this.#fail);
    process.off("SIGHUP", hangUp);
    stdout.off("resize", this.#onResize);
    clearInterval(this.#frames);
    clearTimeout(this.#soon);
    try {
      this.#ink?.unmount();
    } finally {
      stdout.write(showCursor + leaveAlternateScreen);
      if (stdin.isTTY) {
        stdin.off("keypress", this.#onKeyPress);
        stdin.setRawMode(false);
        stdin.pause();
      }
    }
  };

  #mount(): void {
    const { stdin, stdout, stderr } = process;
    this.#ink = render(this.#options.draw(sizeOf(stdout)), {
      stdin,
      stdout,
      stderr,
      exitOnCtrlC: false,
      patchConsole: false,
    });
    // What a view throws ends ink, and is told here alone.
    this.#ink.waitUntilExit().catch(this.#fail);
  }

  readonly #drawFrame = () => {
    this.#ink?.rerender(this.#options.draw(sizeOf(process.stdout)));
  };

  /** What was drawn for another size has been moved about by the terminal: ink begins anew. */
  readonly #onResize = () => {
    this.#ink?.unmount();
    process.stdout.write(hideCursor + clearScreen);
    this.#mount();
  };

  readonly #onKeyPress = (_text: string | undefined, key: Key) => {
    const { sequence = "" } = key;
    const isCharacter =
      sequence > " " && Array.from(sequence).length === 1 && sequence !== "\u007f";
    const name = (isCharacter ? sequence : key.name) ?? "";
    if (key.ctrl === true) {
      if (key.name === "c") this.#end(exitCodes.interrupted);
      return;
    }
    if (name === "q" && this.#options.isTyping?.() !== true) {
      this.#end(exitCodes.done);
      return;
    }
    this.#options.onKey(name, sizeOf(process.stdout));
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#drawFrame();
    }, keyFrameMs);
  };
}

function hangUp(): void {
  process.exit(exitCodes.interrupted);
}

/** A terminal may not know its size. */
function sizeOf({ columns, rows }: NodeJS.WriteStream): ScreenSize {
  return { columns: columns > 0 ? columns : 80, rows: (rows > 1 ? rows : 24) - 1 };
}

const enterAlternateScreen = "\u001b[?1049h";
const leaveAlternateScreen = "\u001b[?1049l";
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearScreen = "\u001b[2J\u001b[H";

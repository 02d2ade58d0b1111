// The server's log: one JSON object a line on stderr. Secrets never reach it: callers log ids and causes.
import { write, writeSync } from "node:fs";
import { pino, type DestinationStream, type Logger } from "pino";

export type Log = Logger;

const stderr = 2;
/** What is kept for a stderr that nobody reads; lines beyond it are lost. */
const unwrittenCharactersMax = 4 * 1024 * 1024;
const retryMs = 100;

/** There is one stderr, whatever number of logs. */
let stderrLines: LogLines | null = null;

/** Levels are pino's; "silent" writes nothing. stdout is left to a command's results. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    (stderrLines ??= new LogLines()),
  );
}

/**
 * Writes lines to stderr without waiting for whoever reads it. Lines that can't be written, to a terminal that was
 * closed or a full disk, are lost: pino's own destination would try them for ever when the process exits.
 */
class LogLines implements DestinationStream {
  #unwritten = "";
  #isWriting = false;

  constructor() {
    process.once("exit", () => {
      try {
        writeSync(stderr, this.#unwritten);
      } catch {
        // There is nobody left to tell.
      }
    });
  }

  write(line: string): void {
    if (this.#unwritten.length + line.length > unwrittenCharactersMax) return;
    this.#unwritten += line;
    if (!this.#isWriting) this.#writeRest();
  }

  #writeRest(): void {
    if (this.#unwritten === "") return;
    const bytes = Buffer.from(this.#unwritten);
    this.#unwritten = "";
    this.#isWriting = true;
    this.#writeBytes(bytes);
  }

  #writeBytes(bytes: Buffer): void {
    write(stderr, bytes, (error, written) => {
      const rest = bytes.subarray(written);
      if (error?.code === "EAGAIN") {
        setTimeout(() => {
          this.#writeBytes(bytes);
        }, retryMs).unref();
      } else if (error === null && rest.length > 0) {
        this.#writeBytes(rest);
      } else {
        this.#isWriting = false;
        this.#writeRest();
      }
    });
  }
}

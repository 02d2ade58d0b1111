// Waiting for a service that does not answer: told after a second, and ended at once when asked to.
import type { Output } from "../terminal/output.ts";

const silentMs = 1_000;

/** The waiting of one command, told once. */
export class RetryNotice {
  readonly #output: Output;
  readonly #abort = new AbortController();
  #note: NodeJS.Timeout | null = null;
  #isRefused = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Ends requests, and the pauses before they are tried again. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** A request is going to be tried again. */
  begin(): void {
    if (this.#isRefused) this.#abort.abort();
    this.#note ??= setTimeout(() => {
      // A progress line may stand there.
      if (process.stderr.isTTY && !this.#output.isQuiet && !this.#output.isJson)
        process.stderr.write("\r\u001b[K");
      this.#output.noteAtOnce("waiting for the server …");
    }, silentMs);
  }

  /** A request was answered. */
  end(): void {
    if (this.#note !== null) clearTimeout(this.#note);
    this.#note = null;
  }

  /** The command is done, has failed or is interrupted: what is under way ends at once, and no notice tells of it. */
  close(): void {
    this.end();
    this.#abort.abort();
  }

  /** From now on nothing is waited for; what waits now ends at once. */
  refuse(): void {
    this.#isRefused = true;
    if (this.#note !== null) this.#abort.abort();
  }
}

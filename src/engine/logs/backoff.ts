// Longer and longer pauses between attempts that fail, and never the same for all who failed together.

export class Backoff {
  readonly #pauseMs: { readonly first: number; readonly longest: number };
  #failures = 0;
  #untilMs = 0;

  /** The pause after the first failure, which is doubled with each one up to the longest. */
  constructor(pauseMs: { readonly first: number; readonly longest: number }) {
    this.#pauseMs = pauseMs;
  }

  /** Since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** An attempt failed, and another one is to come after `pauseMsMin` at least. */
  fail(pauseMsMin = 0): void {
    const { first, longest } = this.#pauseMs;
    const pauseMs = Math.min(longest, first * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    this.#untilMs = performance.now() + pauseMsMin + pauseMs * (0.5 + Math.random() / 2);
  }

  /** An attempt succeeded. */
  reset(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }

  /** How long to wait until the next attempt. */
  remainingMs(): number {
    return Math.max(0, this.#untilMs - performance.now());
  }
}

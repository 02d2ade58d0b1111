// Plans that a connection keeps for its prepared statements (docs/decisions/0009).

/** How long a plan serves at the most. */
const keptMsMax = 1_000;

/**
 * The age of one connection's plans. One that was made while a table was small would walk all of it when it has
 * grown too; so none is kept for long, least of all where all is new.
 */
export class KeptPlans {
  #discardedMs = performance.now();
  #keptMs = 1;

  /** Whether they are old. If so, the caller discards them, and their age begins anew. */
  expire(): boolean {
    const now = performance.now();
    if (now - this.#discardedMs < this.#keptMs) return false;
    this.#discardedMs = now;
    this.#keptMs = Math.min(2 * this.#keptMs, keptMsMax);
    return true;
  }
}

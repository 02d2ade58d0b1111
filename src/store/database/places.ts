// Bounds how many do something at once; who comes later waits in line, for a bounded time.
import { ConnectionBroken } from "./errors.ts";

/** One that waits for a place. */
interface Waiting {
  readonly enter: () => void;
  readonly reject: (error: Error) => void;
}

export class Places {
  readonly #waitMsMax: number;
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(count: number, waitMsMax: number) {
    this.#free = count;
    this.#waitMsMax = waitMsMax;
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves with a place; rejects with ConnectionBroken where none gets free in time. */
  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const waiting = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error: Error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(new ConnectionBroken(`no connection got free within ${this.#waitMsMax} ms`));
      }, this.#waitMsMax);
      this.#waiting.add(waiting);
    });
  }

  /** Gives a place to who has waited longest. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.enter();
  }

  /** Rejects those who wait. */
  rejectWaiting(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}

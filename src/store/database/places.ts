// Bounds how many do something at once; who comes later waits in line, for a bounded time.
import { ConnectionBroken } from "./errors.ts";

export class Places {
  readonly #waitMsMax: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number, waitMsMax: number) {
    this.#free = count;
    this.#waitMsMax = waitMsMax;
  }

  /** Resolves with a place; rejects with ConnectionBroken where none gets free in time. */
  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        reject(new ConnectionBroken(`no connection got free within ${this.#waitMsMax} ms`));
      }, this.#waitMsMax);
      this.#waiting.add(enter);
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
    next();
  }
}

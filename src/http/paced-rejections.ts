// Rejections, answered at a bounded rate: clients by the thousand that ask again at once would otherwise take all of the
// event loop's time, and what was admitted would wait for seconds.
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

const tickMs = 10;

export class PacedRejections {
  /** One a connection at most, in the order in which they came. */
  readonly #waiting = new Map<Duplex, () => void>();
  readonly #perTick: number;
  #left: number;
  #timer: NodeJS.Timeout | null = null;
  #isEnded = false;

  /** So many rejections a second at the most; a multiple of 100. */
  constructor(perSecond: number) {
    this.#perTick = (perSecond * tickMs) / 1000;
    this.#left = this.#perTick;
  }

  /** How many wait: no more than there are open connections. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs `answer` now or at a later tick, and not at all when the connection closes before. */
  schedule(response: ServerResponse, answer: () => void): void {
    const { socket } = response.req;
    // Node stops reading from a client whose answers pile up. While it gets none it is read on and on, so that only
    // one answer of a connection may wait here.
    if (this.#isEnded || this.#waiting.has(socket)) {
      answer();
      return;
    }
    this.#timer ??= setInterval(() => {
      this.#tick();
    }, tickMs);
    if (this.#left > 0) {
      this.#left -= 1;
      answer();
      return;
    }
    this.#waiting.set(socket, answer);
    response.once("close", () => {
      if (this.#waiting.get(socket) === answer) this.#waiting.delete(socket);
    });
  }

  /** For a server that stops: answers those that wait, and from now on each at once. */
  end(): void {
    this.#isEnded = true;
    this.#stopTimer();
    this.#answer(this.#waiting.size);
  }

  #tick(): void {
    const answered = this.#answer(this.#perTick);
    this.#left = this.#perTick - answered;
    if (answered === 0) this.#stopTimer();
  }

  #answer(max: number): number {
    let answered = 0;
    for (const [socket, answer] of this.#waiting) {
      if (answered === max) break;
      this.#waiting.delete(socket);
      answered += 1;
      answer();
    }
    return answered;
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

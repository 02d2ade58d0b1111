// Connections that are not read for a while, because more is written to their ledger than is committed: what
// their clients ask next waits where it costs nothing. A request that was read costs its share of every garbage
// collection until it is answered.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { whenAtRest } from "./connections.ts";

/** As long as `Retry-After` says, and up to twice that: all at once they would be a crowd again. */
const turnedAwayMs = 1_000;
/** So many requests under way to one ledger are a crowd: they fill a batch, and more would only grow old in memory. */
const crowdMin = 500;
/** Connections that are heard for each answer; one alone would never get through those who ask for nothing. */
const heardPerAnswer = 2;

/**
 * A client whose write was turned away is not heard again before the time that it was told to wait: those who ask
 * again at once would take what the others need.
 */
export function hearLater(response: ServerResponse): void {
  whenAtRest(response, (socket) => {
    socket.pause();
    setTimeout(() => socket.resume(), turnedAwayMs * (1 + Math.random())).unref();
  });
}

interface Crowd {
  /** Requests that are read and not answered. */
  underWay: number;
  /** Connections that wait for their turn, with the end of their patience. */
  readonly unheard: Map<Socket, NodeJS.Timeout>;
}

/** Those who write, by what they write to: where they are a crowd, each is heard in turn, in the order of their answers. */
export class Crowds {
  readonly #crowds = new Map<string, Crowd>();
  readonly #turnMsMax: number;

  /** `turnMsMax`: how long a turn may be waited for. */
  constructor(turnMsMax: number) {
    this.#turnMsMax = turnMsMax;
  }

  /** Makes an answer; its request is one of the crowd until then. */
  async among<T>(key: string, answer: () => Promise<T>): Promise<T> {
    const crowd = this.#crowds.get(key) ?? {
      underWay: 0,
      unheard: new Map<Socket, NodeJS.Timeout>(),
    };
    this.#crowds.set(key, crowd);
    crowd.underWay += 1;
    try {
      return await answer();
    } finally {
      crowd.underWay -= 1;
      this.#forget(key, crowd);
    }
  }

  isCrowded(key: string): boolean {
    return (this.#crowds.get(key)?.underWay ?? 0) >= crowdMin;
  }

  /** The client of an answer is not heard until it is its turn, or as long as that may take. */
  wait(key: string, response: ServerResponse): void {
    whenAtRest(response, (socket) => {
      const crowd = this.#crowds.get(key);
      // It may be gone by the time.
      if (crowd === undefined) return;
      socket.pause();
      const late = setTimeout(() => {
        this.#hear(crowd, socket, late);
        this.#forget(key, crowd);
      }, this.#turnMsMax);
      crowd.unheard.set(socket, late.unref());
    });
  }

  /** Hears those who have waited longest; to be called with every answer that leaves no crowd. */
  hearNext(key: string): void {
    const crowd = this.#crowds.get(key);
    if (crowd === undefined) return;
    let heard = 0;
    for (const [socket, late] of crowd.unheard) {
      if (heard === heardPerAnswer) break;
      this.#hear(crowd, socket, late);
      heard += 1;
    }
    this.#forget(key, crowd);
  }

  #hear({ unheard }: Crowd, socket: Socket, late: NodeJS.Timeout): void {
    clearTimeout(late);
    unheard.delete(socket);
    socket.resume();
  }

  #forget(key: string, { underWay, unheard }: Crowd): void {
    if (underWay === 0 && unheard.size === 0) this.#crowds.delete(key);
  }
}

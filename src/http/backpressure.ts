// Connections that are not read for a while, because more is written to their ledger than is committed: what
// their clients ask next waits where it costs nothing. A request that was read costs its share of every garbage
// collection until it is answered.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterExchange } from "./connections.ts";

/** As long as `Retry-After` says, and up to twice that: all at once they would be a crowd again. */
const turnedAwayMs = 1_000;
/** So many requests under way to one ledger are a crowd: they fill a batch, and more would only grow old in memory. */
const crowdMin = 500;
/** How long a turn may be waited for. */
const turnMsMaxDefault = 1_000;
/** Connections that are heard for an answer: one alone would never get through those who ask for nothing. */
const heardPerAnswer = 2;

/**
 * A client whose write was turned away is not heard again before the time that it was told to wait: those who ask
 * again at once would take what the others need.
 */
export function hearLater(response: ServerResponse): void {
  afterExchange(response, (socket) => {
    socket.pause();
    setTimeout(() => socket.resume(), turnedAwayMs * (1 + Math.random())).unref();
  });
}

/** Those whose writes wait for each other. Where they are many, each is heard in turn, in the order of their answers. */
export class Crowd {
  readonly #turnMsMax: number;
  readonly #onDispersed: () => void;
  /** Requests whose writes are being made. */
  #underWay = 0;
  #answers = 0;
  /** Connections that wait for their turn, with the end of their patience. */
  readonly #unheard = new Map<Socket, NodeJS.Timeout>();

  constructor(turnMsMax: number, onDispersed: () => void) {
    this.#turnMsMax = turnMsMax;
    this.#onDispersed = onDispersed;
  }

  get isCrowded(): boolean {
    return this.#underWay >= crowdMin;
  }

  /** Makes a write, whose request is one of the crowd until then. */
  async among<T>(write: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await write();
    } finally {
      this.#underWay -= 1;
      this.#answers += 1;
      this.#hearNext();
    }
  }

  /** The client of an answer is not heard before its turn, if there is a crowd by then. */
  wait(response: ServerResponse): void {
    afterExchange(response, (socket) => {
      if (!this.isCrowded) return;
      socket.pause();
      const late = setTimeout(() => {
        this.#hear(socket, late);
        this.#mayDisperse();
      }, this.#turnMsMax);
      this.#unheard.set(socket, late.unref());
    });
  }

  /** Hears everybody. */
  disperse(): void {
    for (const [socket, late] of this.#unheard) this.#hear(socket, late);
    this.#mayDisperse();
  }

  /** After an answer: those who have waited longest. */
  #hearNext(): void {
    if (this.#underWay === 0) {
      this.disperse();
      return;
    }
    // Some are heard in a crowd, too: it may consist of those who never wait. Fewer than are answered: it has to shrink.
    let left = this.isCrowded ? this.#answers % 2 : heardPerAnswer;
    for (const [socket, late] of this.#unheard) {
      if (left === 0) break;
      if (!socket.destroyed) left -= 1;
      this.#hear(socket, late);
    }
  }

  #hear(socket: Socket, late: NodeJS.Timeout): void {
    clearTimeout(late);
    this.#unheard.delete(socket);
    socket.resume();
  }

  #mayDisperse(): void {
    if (this.#underWay === 0 && this.#unheard.size === 0) this.#onDispersed();
  }
}

/** Crowds by what they write to. */
export class Crowds {
  readonly #crowds = new Map<string, Crowd>();
  readonly #turnMsMax: number;

  /** `turnMsMax`: how long a connection may wait for its turn. */
  constructor(turnMsMax = turnMsMaxDefault) {
    this.#turnMsMax = turnMsMax;
  }

  /** Lasts as long as somebody is in it. */
  of(key: string): Crowd {
    const known = this.#crowds.get(key);
    if (known !== undefined) return known;
    const crowd = new Crowd(this.#turnMsMax, () => this.#crowds.delete(key));
    this.#crowds.set(key, crowd);
    return crowd;
  }

  /** Hears everybody of every crowd. */
  disperse(): void {
    for (const crowd of this.#crowds.values()) crowd.disperse();
  }
}

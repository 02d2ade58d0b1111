// A mixed load, and the memory of the client that sends it: what it sent, what was answered, and what is unknown.
import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerClient } from "../../src/client/ledger-client.ts";
import { pick } from "../support/wallet-traffic.ts";
import { WriteMaker, type Answer, type Write } from "./writes.ts";

/** How hard a load is. */
export interface Pace {
  /** Each has one write under way at a time. */
  readonly writers: number;
  /** How long a writer rests at most after an answer. */
  readonly restMsMax: number;
}

/** A writer rests for so long after a write that was not answered. */
const unansweredRestMs = 100;

/** Answers that say what became of a write. */
const isAnswer = (status: number) => status < 500 && status !== 429;

export class Load {
  readonly writes: Write[] = [];
  /** When each write was acknowledged, by `performance.now()`. */
  readonly acknowledgedAt: number[] = [];
  readonly #clients: readonly LedgerClient[];
  readonly #maker: WriteMaker;
  readonly #next: (below: number) => number;

  constructor(clients: readonly LedgerClient[], ledgerId: string, next: (below: number) => number) {
    this.#clients = clients;
    this.#maker = new WriteMaker(ledgerId, next);
    this.#next = next;
  }

  /** Writes are tried once, until told to stop. */
  async run({ writers, restMsMax }: Pace, isOver: () => boolean): Promise<void> {
    const write = async () => {
      while (!isOver()) {
        const made = this.#maker.make();
        this.writes.push(made);
        const isAnswered = await this.#attempt(made);
        await sleep(isAnswered ? this.#next(restMsMax) : unansweredRestMs);
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
  }

  /** Sends what is unknown again until all is answered, or it is over: then the rest stays unknown. */
  async settle({ writers }: Pace, isOver: (sinceAnswerMs: number) => boolean): Promise<void> {
    const left = this.writes.filter(({ answer }) => answer === null);
    let answeredAt = performance.now();
    const retry = async () => {
      for (let write = left.shift(); write !== undefined; write = left.shift()) {
        if (isOver(performance.now() - answeredAt)) return;
        if (await this.#attempt(write)) answeredAt = performance.now();
        else {
          left.push(write);
          await sleep(unansweredRestMs);
        }
      }
    };
    await Promise.all(Array.from({ length: writers }, retry));
  }

  /** Sends it once; resolves with whether it is known now what became of it. */
  async #attempt(write: Write): Promise<boolean> {
    const client = pick(this.#clients, this.#next);
    try {
      const { status, text } = await client.request("POST", write.target, write.body);
      const body = JSON.parse(text) as Answer;
      if (!isAnswer(status)) {
        // UNAVAILABLE promises that nothing was recorded; wallets' errors have no code.
        if (body.code !== "UNAVAILABLE") write.isAmbiguous = true;
        return false;
      }
      write.answer = { status, body };
      if (status < 300) {
        this.acknowledgedAt.push(performance.now());
        this.#maker.learn(write, body);
      }
      return true;
    } catch {
      write.isAmbiguous = true;
      return false;
    }
  }
}

// Random traffic on a few wallets over several servers, and what became of each attempt. Whoever gets no
// answer asks again with the same externalId until there is one, at whichever server.
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { sendRequest, type Credentials, type Reply } from "./signed-request.ts";
import type { Source } from "./wallet-oracle.ts";
import { until } from "./until.ts";

export type AttemptType =
  | "credit"
  | "debit"
  | "reserve"
  | "commit"
  | "release"
  | "read"
  | "transfer"
  | "freeze"
  | "unfreeze";

/** One request, sent once. Times are of a clock that ticks with every sending and every answer. */
export interface Attempt {
  /** The metadata of credits, debits, reservations and transfers, so that a row of a log names its attempt. */
  readonly tag: string;
  readonly walletKey: string;
  readonly type: AttemptType;
  /** null: all that is held, or no amount at all. */
  readonly amount: bigint | null;
  readonly externalId: string | null;
  readonly holdId: string | null;
  readonly expiresInSeconds: number | null;
  /** The wallet that a transfer pays; its hold is `holdId`. */
  readonly to: string | null;
  readonly isAtomic: boolean;
  readonly invokedAt: number;
  answeredAt: number;
  /** null while it is unknown what became of it: no answer, or a 503. */
  answer: Answer | null;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly reply: Figures & {
    readonly status?: string;
    readonly holdId?: string | null;
    /** Of a transfer. */
    readonly from?: Figures;
    readonly to?: Figures;
  };
}

export interface Figures {
  readonly balance?: string;
  readonly available?: string;
}

type Step = Omit<Attempt, "tag" | "invokedAt" | "answeredAt" | "answer">;

export interface TrafficOptions {
  readonly ports: readonly number[];
  /** Without the scope `admin`, `freezes` has to be false. */
  readonly credentials: Credentials;
  /** Whether wallets are frozen at times. */
  readonly freezes: boolean;
  /** As they stand in paths, percent-encoded. */
  readonly walletKeys: readonly string[];
  readonly clients: number;
  /** How long a client rests between two steps at most. */
  readonly restMsMax: number;
  readonly seed: number;
}

/** How long a client asks again before it is a fault that nobody answers. */
const patienceMs = 60_000;
const holdsKept = 40;

/** A generator that a seed replays: a whole number from 0 up to, not including, `below`. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function pick<Item>(list: readonly Item[], next: (below: number) => number): Item {
  const item = list[next(list.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

export class WalletTraffic implements Source {
  readonly attempts: Attempt[] = [];
  readonly #options: TrafficOptions;
  readonly #clients: TrafficClient[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });
  /** Of all clients, so that two of them resolve the same hold at times. */
  readonly #holds: { walletKey: string; holdId: string }[] = [];
  #clock = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#clients = Array.from({ length: options.clients }, (_, number) => ({
      number,
      next: random(options.seed * 1_000 + number),
      keysUsed: 0,
    }));
  }

  /** Every client goes on until told to stop; resolves when each has its answer: a quiet moment. */
  async run(isOver: () => boolean): Promise<void> {
    await Promise.all(
      this.#clients.map(async (client) => {
        while (!isOver()) {
          await this.#carryOut(this.#choose(client), client.next);
          await sleep(client.next(this.#options.restMsMax + 1));
        }
      }),
    );
  }

  /** A number of steps of every client. */
  async runSteps(count: number): Promise<void> {
    await Promise.all(
      this.#clients.map(async (client) => {
        for (let step = 0; step < count; step += 1) {
          await this.#carryOut(this.#choose(client), client.next);
        }
      }),
    );
  }

  /** Asks whichever server answers; fails unless it finds something there. */
  async get(target: string): Promise<Reply> {
    const { ports, credentials } = this.#options;
    let tries = 0;
    return until(`an answer to ${target}`, async () => {
      const port = ports[tries++ % ports.length] ?? 0;
      const parts = { target, credentials };
      const reply = await sendRequest(port, this.#agent, parts).catch(() => null);
      if (reply !== null && ![200, 503].includes(reply.status)) throw new Error(reply.text);
      return reply?.status === 200 ? reply : null;
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #choose(client: TrafficClient): Step {
    const { next } = client;
    const kind = next(30);
    const none = {
      ...{ amount: null, externalId: null, holdId: null, expiresInSeconds: null },
      ...{ to: null, isAtomic: false },
    };
    if (kind >= 20) return this.#chooseBetweenWallets(client, none);
    if (kind < 5 && this.#holds.length > 0) {
      const hold = pick(this.#holds, next);
      // Some are left to be resolved again, the same way or the other.
      if (next(3) > 0) this.#holds.splice(this.#holds.indexOf(hold), 1);
      const type = next(2) === 0 ? "commit" : "release";
      return { ...none, ...hold, type, amount: type === "commit" && next(2) === 0 ? 1n : null };
    }
    const walletKey = pick(this.#options.walletKeys, next);
    if (kind === 5) return { ...none, walletKey, type: "read" };
    const type = kind < 12 ? "credit" : kind < 16 ? "debit" : "reserve";
    return {
      ...none,
      walletKey,
      type,
      amount: BigInt(1 + next(500)),
      externalId: this.#chooseExternalId(client),
      expiresInSeconds: type === "reserve" && next(3) === 0 ? 1 : null,
    };
  }

  /** A transfer, one in four out of a hold and one in four atomic; or seldom a freeze, which is soon ended. */
  #chooseBetweenWallets(client: TrafficClient, none: Omit<Step, "walletKey" | "type">): Step {
    const { next } = client;
    const { walletKeys, freezes } = this.#options;
    const roll = next(20);
    if (freezes && roll < 3) {
      return {
        ...none,
        walletKey: pick(walletKeys, next),
        type: roll === 0 ? "freeze" : "unfreeze",
      };
    }
    const hold = next(4) === 0 && this.#holds.length > 0 ? pick(this.#holds, next) : null;
    const walletKey = hold?.walletKey ?? pick(walletKeys, next);
    const others = walletKeys.filter((key) => key !== walletKey);
    return {
      ...none,
      ...{ type: "transfer", walletKey, to: pick(others, next), isAtomic: next(4) === 0 },
      holdId: hold?.holdId ?? null,
      amount: hold === null ? BigInt(1 + next(300)) : 1n,
      externalId: this.#chooseExternalId(client),
    };
  }

  /** One key in eight was used before, by whichever client, perhaps for another wallet; one write in twelve has none. */
  #chooseExternalId(client: TrafficClient): string | null {
    const { next, number } = client;
    if (next(12) === 0) return null;
    if (next(8) === 0) {
      const other = pick(this.#clients, next);
      return `k-${other.number}-${next(other.keysUsed + 1)}`;
    }
    client.keysUsed += 1;
    return `k-${number}-${client.keysUsed}`;
  }

  /** Asks until there is an answer. What can't be asked again safely stays unknown when none comes. */
  async #carryOut(step: Step, next: (below: number) => number): Promise<void> {
    const untilMs = performance.now() + patienceMs;
    for (;;) {
      const attempt = await this.#attempt(step, pick(this.#options.ports, next));
      const isUnsafe = step.externalId === null && isTagged(step.type);
      if (attempt.answer !== null || isUnsafe) return;
      if (performance.now() > untilMs) throw new Error(`${step.type} was never answered`);
      await sleep(20 + next(60));
    }
  }

  async #attempt(step: Step, port: number): Promise<Attempt> {
    const attempt: Attempt = {
      ...step,
      tag: `attempt-${this.attempts.length}`,
      invokedAt: (this.#clock += 1),
      answeredAt: Infinity,
      answer: null,
    };
    this.attempts.push(attempt);
    const { credentials } = this.#options;
    const parts = { ...requestOf(attempt), credentials };
    const answered = await sendRequest(port, this.#agent, parts).catch(() => null);
    const answer = answered === null ? null : answerOf(attempt, answered);
    if (answer === null || answer.status === 503) return attempt;
    attempt.answeredAt = this.#clock += 1;
    attempt.answer = answer;
    const { holdId } = attempt.answer.reply;
    if (holdId) {
      this.#holds.push({ walletKey: attempt.walletKey, holdId });
      if (this.#holds.length > holdsKept) this.#holds.shift();
    }
    return attempt;
  }
}

interface TrafficClient {
  readonly number: number;
  readonly next: (below: number) => number;
  keysUsed: number;
}

export function isMovement(type: string): boolean {
  return type === "credit" || type === "debit" || type === "reserve";
}

/** Whether a row of the log bears the tag of its attempt. */
function isTagged(type: AttemptType): boolean {
  return isMovement(type) || type === "transfer";
}

function requestOf(attempt: Attempt): { target: string; method: string; body?: string } {
  const { type, walletKey, amount, externalId, holdId, expiresInSeconds, tag } = attempt;
  const path = `/v1/wallets/${walletKey}`;
  if (type === "read") return { method: "GET", target: `${path}/balance` };
  if (type === "freeze" || type === "unfreeze")
    return { method: "POST", target: `${path}/${type}` };
  if (type === "transfer") return transferRequestOf(attempt);
  if (!isMovement(type)) {
    const body = amount === null ? {} : { body: JSON.stringify({ amount: String(amount) }) };
    return { method: "POST", target: `${path}/holds/${holdId ?? ""}/${type}`, ...body };
  }
  const expiry = expiresInSeconds === null ? {} : { expiresInSeconds };
  const write = { amount: String(amount), assetCode: "USD", metadata: tag, ...expiry };
  const body = JSON.stringify(externalId === null ? write : { ...write, externalId });
  return { method: "POST", target: `${path}/${type}`, body };
}

function transferRequestOf(attempt: Attempt): { target: string; method: string; body: string } {
  const { walletKey, to, amount, externalId, holdId, isAtomic, tag } = attempt;
  const transfer = {
    ...{ from: callerKeyOf(walletKey), to: callerKeyOf(to ?? "") },
    ...{ amount: String(amount), assetCode: "USD", metadata: tag },
    ...(externalId !== null && { externalId }),
    ...(holdId !== null && { fromHold: holdId }),
  };
  const target = `/v1/ledgers/${walletKey.split(":")[0] ?? ""}/wallet-transfers`;
  const body = JSON.stringify({ transfers: [transfer], atomic: isAtomic });
  return { method: "POST", target, body };
}

/** As it is without the ledger, not percent-encoded. */
export function callerKeyOf(walletKey: string): string {
  return decodeURIComponent(walletKey.slice(walletKey.indexOf(":") + 1));
}

/** Of a transfer, the answer to it alone. */
function answerOf({ type }: Attempt, { status, text, body }: Reply): Answer {
  const { results } = (body ?? {}) as {
    results?: readonly (Answer["reply"] & { error?: string })[];
  };
  const [result] = results ?? [];
  if (type !== "transfer" || result === undefined) return { status, text, reply: body ?? {} };
  if (result.error === undefined) return { status, text, reply: result };
  return { status: Number(result.status), text: result.error, reply: {} };
}

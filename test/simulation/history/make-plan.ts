// Makes a plan from a seed: bursts of requests by a few clients on few ledgers, accounts and wallets, so that they meet.
import { SeededRandom } from "../../../src/seed/seeded-random.ts";
import type { Moment } from "../database/cluster.ts";
import {
  poison,
  type Fault,
  type Plan,
  type PlannedTransfer,
  type Request,
  type Setup,
  type Step,
  type Trouble,
} from "./plan.ts";

export const accountCodes = ["1000", "2000", "4000"];
export const walletKeys = ["a", "b", "c"];
const assets = ["EUR", "GEM"];
const downtimesMs = [5, 300, 2_000, 12_000];
/** 2026-03-10 is the day on which histories begin. */
const periods = ["2026-02", "2026-01", "2026-03-09", "year-end", "to-date"];

export function makePlan(seed: number): Plan {
  const random = new SeededRandom(`plan ${seed}`);
  const setup = makeSetup(random);
  const steps = makeSteps(random, setup);
  return { seed, setup, steps, faults: makeFaults(random, setup, steps.length) };
}

function makeSetup(random: SeededRandom): Setup {
  return {
    servers: random.between(1, 3),
    ledgers: random.between(1, 2),
    hasStandby: random.happens(50),
    closesInOrder: random.happens(30),
    connectionsMax: random.between(1, 3),
    batchItemsMax: random.between(1, 6),
    pollIntervalMs: random.happens(35) ? random.pick([300, 1_000]) : null,
    delayMsMax: random.pick([0.2, 1, 20]),
  };
}

/** What the requests of a history are mostly about, in percent of all. */
interface Taste {
  readonly repeats: number;
  readonly closes: number;
  /** Of the writes. */
  readonly journal: number;
  /** Of the writes of wallets: transfers, what freezes wallets, and what limits them. */
  readonly transfers: number;
}

function makeTaste(random: SeededRandom): Taste {
  return {
    repeats: random.pick([8, 20, 35]),
    closes: random.pick([4, 4, 4, 15]),
    journal: random.pick([100, 0, 50, 50]),
    transfers: random.pick([0, 0, 40, 70]),
  };
}

function makeSteps(random: SeededRandom, setup: Setup): Step[] {
  const bursts = random.between(2, 6);
  const taste = makeTaste(random);
  const steps: Step[] = [];
  let atMs = 1;
  for (let burst = 0; burst < bursts; burst += 1) {
    const size = random.between(1, 7);
    for (let count = 0; count < size; count += 1) {
      const request = makeRequest(random, setup, steps, taste);
      steps.push({ id: steps.length, atMs: atMs + random.below(100) / 50, request });
    }
    atMs += random.pick([0, 3, 30, 400, 2_500]);
  }
  return steps;
}

function makeRequest(
  random: SeededRandom,
  setup: Setup,
  steps: readonly Step[],
  taste: Taste,
): Request {
  const server = random.below(setup.servers);
  const ledger = random.below(setup.ledgers);
  const place = { server, ledger };
  if (steps.length > 0 && random.happens(taste.repeats)) {
    return { kind: "again", of: repeatedStep(random, steps), server };
  }
  if (random.happens(taste.closes)) {
    return { kind: "close", ...place, periodId: random.pick(periods) };
  }
  const roll = random.below(100);
  if (roll < 8) return { kind: "post", server };
  if (roll < 12) {
    return {
      kind: "account",
      ...place,
      code: random.pick(accountCodes),
      active: random.happens(50),
    };
  }
  if (roll < 15) {
    return { kind: "status", ...place, status: random.happens(60) ? "active" : "suspended" };
  }
  return random.happens(taste.journal)
    ? journalRequest(random, place, steps)
    : random.happens(taste.transfers)
      ? betweenWallets(random, place, steps)
      : walletRequest(random, place, steps);
}

/** Often the last one: then two servers are asked for the same at once. */
function repeatedStep(random: SeededRandom, steps: readonly Step[]): number {
  const last = steps.at(-1);
  const step = last !== undefined && random.happens(40) ? last : random.pick(steps);
  return step.request.kind === "again" ? step.request.of : step.id;
}

type Place = Pick<Extract<Request, { kind: "close" }>, "server" | "ledger">;

/** Few externalIds, so that two clients come to use one. */
function externalId(random: SeededRandom): string | null {
  if (random.happens(30)) return null;
  if (random.happens(2)) return poison;
  return `key-${random.below(random.happens(50) ? 6 : 1_000)}`;
}

function journalRequest(random: SeededRandom, place: Place, steps: readonly Step[]): Request {
  const originals = steps.filter(({ request }) => request.kind === "entries");
  if (originals.length > 0 && random.happens(20)) {
    const { id, request } = random.pick(originals);
    return {
      kind: "reversal",
      ...place,
      ...ledgerOf(request),
      of: id,
      externalId: externalId(random),
    };
  }
  const count = random.happens(15) ? random.between(2, 3) : 1;
  const keys = new Set<string>();
  const entries = Array.from({ length: count }, () => {
    const key = externalId(random);
    const isNew = key !== null && !keys.has(key);
    if (isNew) keys.add(key);
    const debit = random.pick(accountCodes);
    return {
      debit,
      credit: random.pick(accountCodes.filter((code) => code !== debit)),
      amount: random.between(1, 1_000),
      externalId: isNew ? key : null,
      daysAgo: random.happens(60) ? null : random.pick([1, 9, 20, 50]),
    };
  });
  return { kind: "entries", ...place, entries };
}

function ledgerOf(request: Request): { ledger: number } {
  return { ledger: "ledger" in request ? request.ledger : 0 };
}

/** Transfers mostly; else the controls of wallets. */
function betweenWallets(random: SeededRandom, place: Place, steps: readonly Step[]): Request {
  const roll = random.below(100);
  if (roll < 12) {
    const type = random.happens(50) ? "freeze" : "unfreeze";
    return { kind: "control", ...place, type, callerKey: random.pick(walletKeys) };
  }
  if (roll < 20) {
    return {
      kind: "limits",
      ...place,
      assetCode: random.pick(["EUR", "EUR", ...assets]),
      maxBalance: random.pick([null, 60, 150]),
      dailyDebitMax: random.pick([null, 50, 120]),
    };
  }
  const reservations = reservationsIn(steps);
  if (reservations.length > 0 && random.happens(30)) {
    const { id, request } = random.pick(reservations);
    if (request.kind !== "movement") throw new Error("a reservation is a movement");
    const { callerKey: from, assetCode, amount, ledger } = request;
    const part = random.happens(80) ? random.between(1, amount) : amount + 1;
    const transfer = makeTransfer(random, from, { assetCode, amount: part, holdOf: id });
    return { kind: "transfers", ...place, ledger, transfers: [transfer] };
  }
  const count = random.happens(30) ? random.between(2, 4) : 1;
  const transfers: PlannedTransfer[] = [];
  while (transfers.length < count) {
    const transfer = makeTransfer(random, random.pick(walletKeys), {});
    const isKnown = transfers.some(
      ({ from, externalId: key }) =>
        key !== null && key === transfer.externalId && from === transfer.from,
    );
    transfers.push(isKnown ? { ...transfer, externalId: null } : transfer);
  }
  return { kind: "transfers", ...place, transfers };
}

function makeTransfer(
  random: SeededRandom,
  from: string,
  more: Partial<PlannedTransfer>,
): PlannedTransfer {
  return {
    from,
    to: random.pick([...walletKeys, "d"].filter((key) => key !== from)),
    assetCode: random.happens(90) ? "EUR" : random.pick(assets),
    amount: random.between(1, 50),
    externalId: externalId(random),
    holdOf: null,
    ...more,
  };
}

function reservationsIn(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ request }) => request.kind === "movement" && request.type === "reserve");
}

function walletRequest(random: SeededRandom, place: Place, steps: readonly Step[]): Request {
  const reservations = reservationsIn(steps);
  if (reservations.length > 0 && random.happens(30)) {
    const { id, request } = random.pick(reservations);
    return {
      kind: "resolution",
      ...place,
      ...ledgerOf(request),
      of: id,
      type: random.pick(["commit", "release"]),
    };
  }
  const type = random.pick(["credit", "credit", "debit", "reserve"] as const);
  return {
    kind: "movement",
    ...place,
    type,
    callerKey: random.pick(walletKeys),
    assetCode: random.happens(85) ? "EUR" : random.pick(assets),
    amount: random.between(1, type === "credit" ? 100 : 60),
    externalId: externalId(random),
    expiresInSeconds: type === "reserve" && random.happens(50) ? random.between(1, 3) : null,
  };
}

function makeFaults(random: SeededRandom, setup: Setup, steps: number): Fault[] {
  // A fifth of all histories has no faults: whatever is refused in them has to be refused rightly.
  if (random.happens(20)) return [];
  return Array.from({ length: random.between(1, setup.hasStandby ? 4 : 3) }, (): Fault => {
    const isAtCommit = random.happens(65);
    const moment: Moment = isAtCommit
      ? random.pick(["commitSent", "commitDurable", "commitVisible"])
      : "statement";
    const nth = random.between(1, isAtCommit ? Math.max(3, steps >> 1) : 10 * steps);
    return { moment, nth, trouble: makeTrouble(random, setup, moment) };
  });
}

function makeTrouble(random: SeededRandom, setup: Setup, moment: Moment): Trouble {
  if (setup.hasStandby && random.happens(55)) return makeReplicationTrouble(random);
  const downMs = random.pick(downtimesMs);
  const kinds: (() => Trouble)[] = [
    () => ({ kind: "break", how: random.pick(["closed", "closed", "halfOpen", "silent"]) }),
    () => ({ kind: "break", how: "closed" }),
    () => ({
      kind: "stall",
      end: random.pick(["database", "client"]),
      ms: random.pick([50, 2_000, 11_000, 14_000]),
    }),
    () => ({ kind: "terminate" }),
    () => ({ kind: "crashDatabase", downMs }),
    () => ({ kind: "killServer", isSilent: random.happens(30), downMs }),
    () => ({ kind: "stepClock", ms: random.pick([-60_000, -5, 5_000]) }),
  ];
  if (moment === "commitSent") {
    const slow = (): Trouble => ({
      kind: "slowCommit",
      ms: random.pick([3, 800, 3_000, 11_000]),
      isCut: random.happens(75),
    });
    kinds.push(slow, slow, slow);
  }
  if (moment === "statement") {
    kinds.push(() => ({
      kind: "error",
      code: random.pick(["40001", "40P01", "53100", "53200", "57014"]),
    }));
  }
  return random.pick(kinds)();
}

function makeReplicationTrouble(random: SeededRandom): Trouble {
  const kind = random.pick([
    "strandCommit",
    "strandCommit",
    "strandCommit",
    "failOver",
    "stopStandby",
  ]);
  if (kind === "strandCommit") return makeStranding(random);
  if (kind === "failOver") return { kind, downMs: random.pick(downtimesMs) };
  return { kind: "stopStandby", ms: random.pick([100, 3_000, 15_000]) };
}

function makeStranding(random: SeededRandom): Trouble {
  return {
    kind: "strandCommit",
    how: random.pick(["terminate", "cancel", "crash"]),
    afterMs: random.pick([1, 20, 700]),
    // As long as the next burst of requests is away, or longer: others see what is stranded.
    failOverAfterMs: random.happens(80) ? random.pick([1, 20, 400, 3_000, 3_000]) : null,
  };
}

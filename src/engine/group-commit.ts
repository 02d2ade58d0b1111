// Group commit: writes wait in lanes; while one batch of a lane is being committed the next one gathers,
// and its locks follow close behind that COMMIT. Generic over what is written: no rule of the books is here.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { assert, overloadRefusal, Refusal } from "../core/errors.ts";
import {
  CommitAnswerLost,
  isDatabaseTrouble,
  isTransient,
  KeyTaken,
  RecordedInPart,
} from "../store/database-errors.ts";
import type { BorrowedConnection, WriteTransaction } from "../store/write-connections.ts";
import type { Tally } from "./write-counts.ts";

/** What became of one item of a batch: a reply, or the refusal that its caller gets. */
export type Outcome<Reply> = { readonly reply: Reply } | { readonly refusal: Refusal };

/** A batch that has been decided under its locks and waits to be recorded. */
export interface Plan<Reply> {
  /** One an item, in order. They hold only once the batch is committed. */
  readonly outcomes: readonly Outcome<Reply>[];
  /** Null when nothing is to be written. */
  readonly recording: Recording | null;
  /** Told once the batch is known to be committed, before its callers are. */
  readonly onCommitted?: () => void;
}

/** How a batch is recorded, and how one whose COMMIT went unanswered is looked for, in another transaction. */
export interface Recording {
  /** Sends everything that records the batch, without waiting. */
  readonly send: (transaction: WriteTransaction) => Promise<unknown>[];
  /** Takes a lock that waits for the transaction in which the batch was sent. */
  readonly lock: (transaction: WriteTransaction) => Promise<unknown>;
  /** Looks whether the batch is in the books. */
  readonly isThere: (transaction: WriteTransaction) => Promise<boolean>;
}

/** How one kind of write is decided and recorded. Attempts may be repeated; only the last one counts. */
export interface LaneWork<Item, Reply> {
  /**
   * Locks, reads and decides. With `lookUpKeys`, keys that are in use are looked up first; without,
   * recording may throw KeyTaken and the batch is planned again with it.
   */
  plan(
    transaction: WriteTransaction,
    laneKey: string,
    items: readonly Item[],
    lookUpKeys: boolean,
  ): Promise<Plan<Reply>>;
}

export interface GroupCommitOptions {
  readonly batchItemsMax: number;
  /** Bodies of a batch together; one larger item still makes a batch of its own. */
  readonly batchBytesMax: number;
  /** Bodies waiting in all lanes together. */
  readonly queueBytesMax: number;
  readonly queueItemsMax: number;
  /** Bodies waiting in one lane, so that none can shut out the others; an empty lane takes any one item. */
  readonly laneBytesMax: number;
  readonly laneItemsMax: number;
  /**
   * A lane in which two full batches wait takes nothing more while the first write of them has waited longer:
   * those who are let in have their answer in time, however many more come.
   */
  readonly laneWaitMsMax: number;
  /** How long an item is tried, waiting included, before it is given up. */
  readonly deadlineMs: number;
  readonly nowMs: () => number;
  /**
   * Told of what no caller hears: an `onCommitted` that threw (the batch is in the books), and trouble of
   * the database such as a full disk, at each attempt that fails of it.
   */
  readonly onFailure: (error: unknown) => void;
}

/** What waits in all lanes, with the batches that are under way. */
export interface QueueState {
  readonly writes: number;
  readonly bytes: number;
  /** Batches that were tried again since the start, over trouble that passes. */
  readonly retries: number;
}

interface Connections {
  borrow(): Promise<BorrowedConnection>;
  transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
}

interface Pending<Item, Reply> {
  readonly item: Item;
  readonly bytes: number;
  readonly deadlineAtMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch whose locks and reads are sent. */
interface Attempt<Item, Reply> {
  readonly batch: readonly Pending<Item, Reply>[];
  readonly transaction: WriteTransaction;
  readonly planned: Promise<Plan<Reply>>;
  readonly startedMs: number;
}

/** A batch that was not recorded, or of which nobody can tell, with its plan as far as there is one. */
interface Failure<Item, Reply> {
  readonly batch: readonly Pending<Item, Reply>[];
  readonly plan: Plan<Reply> | null;
  readonly error: unknown;
  /** What was attempted behind it, and is undone. */
  readonly follower: readonly Pending<Item, Reply>[];
}

interface Lane<Item, Reply> {
  readonly key: string;
  readonly waiting: Pending<Item, Reply>[];
  /** What waits, with the batch that is under way. */
  queuedItems: number;
  queuedBytes: number;
}

/** Made once: its stack would cost as much as the rest of a rejection. */
export const lanesOverloaded = overloadRefusal(
  "too many writes are waiting; try again in a moment",
);

const backoffMsMax = 400;
const answersPerTurn = 24;
/** Turns of the event loop between a COMMIT and the locks that follow it; more than two let the database wait. */
const gatheringTurns = 2;
/** So many full batches may wait in a lane, however long. */
const patientBatches = 2;
/** How often a batch is planned anew over keys that others take meanwhile, before it is split. */
const keysTakenMax = 4;

export class GroupCommit<Item, Reply> {
  readonly #connections: Connections;
  readonly #work: LaneWork<Item, Reply>;
  readonly #options: GroupCommitOptions;
  readonly #tally: Tally<Item, Reply> | null;
  /** Lanes with work; an idle lane is forgotten. */
  readonly #lanes = new Map<string, Lane<Item, Reply>>();
  #queuedItems = 0;
  #queuedBytes = 0;
  #retries = 0;
  #isDraining = false;
  #whenIdle: (() => void)[] = [];

  constructor(
    connections: Connections,
    work: LaneWork<Item, Reply>,
    options: GroupCommitOptions,
    tally: Tally<Item, Reply> | null = null,
  ) {
    this.#connections = connections;
    this.#work = work;
    this.#options = options;
    this.#tally = tally;
  }

  get state(): QueueState {
    return { writes: this.#queuedItems, bytes: this.#queuedBytes, retries: this.#retries };
  }

  /**
   * Queues an item in a lane and resolves with its reply once the database has flushed it. Rejects
   * with a Refusal (the work's own, `unavailable` or `outcomeUnknown`), or with the error of a bug.
   * `bytes` is what the item holds in memory, roughly.
   */
  submit(laneKey: string, item: Item, bytes: number): Promise<Reply> {
    const { deadlineMs, nowMs } = this.#options;
    if (this.#isDraining) return this.#refuse(item, unavailable("the server is stopping"));
    const found = this.#lanes.get(laneKey);
    if (!this.#hasRoom(found, bytes)) {
      return this.#refuse(item, lanesOverloaded);
    }
    const lane = found ?? this.#openLane(laneKey);
    return new Promise((resolve, reject) => {
      const fail: (error: unknown) => void = reject;
      lane.waiting.push({
        item,
        bytes,
        deadlineAtMs: nowMs() + deadlineMs,
        resolve: (reply) => {
          this.#count(lane, -1, -bytes);
          this.#tally?.replied(item, reply);
          resolve(reply);
        },
        reject: (error) => {
          this.#count(lane, -1, -bytes);
          this.#tally?.rejected(item, error);
          fail(error);
        },
      });
      this.#count(lane, 1, bytes);
    });
  }

  /** Whether a lane would refuse whatever is submitted. Costs little: it is asked before a request is read. */
  isFull(laneKey: string): boolean {
    return !this.#hasRoom(this.#lanes.get(laneKey), 0);
  }

  #refuse(item: Item, refusal: Refusal): Promise<never> {
    this.#tally?.rejected(item, refusal);
    return Promise.reject(refusal);
  }

  /** Accepts nothing more and resolves when everything accepted has its answer. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#lanes.size === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #hasRoom(lane: Lane<Item, Reply> | undefined, bytes: number): boolean {
    const { queueItemsMax, queueBytesMax, laneItemsMax, laneBytesMax } = this.#options;
    if (this.#queuedItems >= queueItemsMax) return false;
    if (this.#queuedBytes + bytes > queueBytesMax) return false;
    if (lane === undefined || lane.queuedItems === 0) return true;
    if (lane.queuedItems >= laneItemsMax || lane.queuedBytes + bytes > laneBytesMax) return false;
    return !this.#isSlow(lane);
  }

  #isSlow({ waiting }: Lane<Item, Reply>): boolean {
    const { batchItemsMax, laneWaitMsMax, deadlineMs, nowMs } = this.#options;
    const [first] = waiting;
    if (first === undefined || waiting.length < patientBatches * batchItemsMax) return false;
    return nowMs() - (first.deadlineAtMs - deadlineMs) > laneWaitMsMax;
  }

  #openLane(key: string): Lane<Item, Reply> {
    const lane: Lane<Item, Reply> = { key, waiting: [], queuedItems: 0, queuedBytes: 0 };
    this.#lanes.set(key, lane);
    // Requests that arrived in the same turn of the event loop share the first batch.
    setImmediate(() => void this.#runLane(lane));
    return lane;
  }

  #count(lane: Lane<Item, Reply>, items: number, bytes: number): void {
    this.#queuedItems += items;
    this.#queuedBytes += bytes;
    lane.queuedItems += items;
    lane.queuedBytes += bytes;
  }

  async #runLane(lane: Lane<Item, Reply>): Promise<void> {
    while (lane.waiting.length > 0) {
      const failure = await this.#run(lane.key, () => this.#takeBatch(lane), false);
      if (failure === null) continue;
      lane.waiting.unshift(...failure.follower);
      await this.#seeThrough(lane.key, failure, false);
    }
    this.#lanes.delete(lane.key);
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }

  /**
   * Runs the batches that `take` gives on one connection, until it gives none, others want the connection, or
   * a batch fails. The locks of a batch follow the COMMIT of the one before without waiting for its answer, so that the
   * database works while the callers of one batch are answered and those of the next but one are heard.
   */
  async #run(
    laneKey: string,
    take: () => readonly Pending<Item, Reply>[],
    lookUpKeys: boolean,
  ): Promise<Failure<Item, Reply> | null> {
    let connection: BorrowedConnection;
    try {
      connection = await this.#connections.borrow();
    } catch (error) {
      const batch = take();
      return batch.length === 0 ? null : { batch, plan: null, error, follower: [] };
    }
    const attemptNext = () => this.#attempt(connection, laneKey, take(), lookUpKeys);
    let answered = Promise.resolve();
    try {
      let attempt = attemptNext();
      while (attempt !== null) {
        const { batch, transaction } = attempt;
        let plan: Plan<Reply> | null = null;
        let ended: Promise<void>;
        try {
          plan = await attempt.planned;
          ended = sendEnd(transaction, plan, batch.length);
        } catch (error) {
          await transaction.rollBack();
          return { batch, plan, error, follower: [] };
        }
        // While the database flushes, those who had their answers a moment ago ask again: a larger batch costs little more.
        await Promise.race([ended, turnsOfEventLoop(gatheringTurns)]).catch(() => undefined);
        // Outside of what is tried: a fault of it is none of this batch's.
        const follower = connection.isWanted ? null : attemptNext();
        try {
          await ended;
        } catch (error) {
          return { batch, plan, error, follower: await undo(follower) };
        }
        if (plan.recording !== null) {
          this.#tally?.committed(batch.length, this.#options.nowMs() - attempt.startedMs);
        }
        const recorded = plan;
        answered = answered.then(() => this.#answer(batch, recorded));
        attempt = follower ?? (connection.isWanted ? null : attemptNext());
      }
      return null;
    } finally {
      connection.giveBack();
      await answered;
    }
  }

  /** Sends the locks and reads of a batch; null for one without writes. */
  #attempt(
    connection: BorrowedConnection,
    laneKey: string,
    batch: readonly Pending<Item, Reply>[],
    lookUpKeys: boolean,
  ): Attempt<Item, Reply> | null {
    if (batch.length === 0) return null;
    const startedMs = this.#options.nowMs();
    const transaction = connection.begin();
    const items = batch.map(({ item }) => item);
    const planned = this.#work.plan(transaction, laneKey, items, lookUpKeys);
    // Asked for only when the batch before is through.
    planned.catch(() => undefined);
    return { batch, transaction, planned, startedMs };
  }

  /** Takes what waits, as much as makes a batch. */
  #takeBatch(lane: Lane<Item, Reply>): readonly Pending<Item, Reply>[] {
    const { batchItemsMax, batchBytesMax } = this.#options;
    let bytes = 0;
    let count = 0;
    for (const pending of lane.waiting) {
      bytes += pending.bytes;
      if (count > 0 && (count === batchItemsMax || bytes > batchBytesMax)) break;
      count += 1;
    }
    return this.#giveUpLate(lane.waiting.splice(0, count));
  }

  /** Sees a batch that failed through to an answer for each of its items. */
  async #seeThrough(
    laneKey: string,
    failed: Failure<Item, Reply>,
    lookUpKeys: boolean,
  ): Promise<void> {
    let failure: Failure<Item, Reply> | null = failed;
    let lookUp = lookUpKeys;
    let keysTaken = 0;
    for (let retry = 0; failure !== null; retry += 1) {
      const { batch, plan, error }: Failure<Item, Reply> = failure;
      if (isDatabaseTrouble(error)) this.#options.onFailure(error);
      if (error instanceof RecordedInPart) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const isUnknown = error instanceof CommitAnswerLost && plan !== null;
      if (isUnknown && (await this.#wasRecorded(plan, batch))) return;
      if (error instanceof KeyTaken && keysTaken < keysTakenMax) {
        lookUp = true;
        keysTaken += 1;
      } else if (isTransient(error)) {
        this.#retries += 1;
        await sleep(backoffMs(retry));
      } else {
        await this.#isolate(laneKey, batch, error);
        return;
      }
      failure = await this.#runAlone(laneKey, batch, lookUp);
    }
  }

  /** One bad item must not fail its neighbours: halves the batch until it stands alone. */
  async #isolate(
    laneKey: string,
    batch: readonly Pending<Item, Reply>[],
    error: unknown,
  ): Promise<void> {
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
      const failure = await this.#runAlone(laneKey, half, true);
      if (failure !== null) await this.#seeThrough(laneKey, failure, true);
    }
  }

  /** Runs one batch, without what has waited too long. */
  async #runAlone(
    laneKey: string,
    batch: readonly Pending<Item, Reply>[],
    lookUpKeys: boolean,
  ): Promise<Failure<Item, Reply> | null> {
    const open = this.#giveUpLate(batch);
    if (open.length === 0) return null;
    const batches = [open];
    return this.#run(laneKey, () => batches.shift() ?? [], lookUpKeys);
  }

  /** Answers `unavailable` to what has waited too long; none of it was written. Returns the rest. */
  #giveUpLate(batch: readonly Pending<Item, Reply>[]): readonly Pending<Item, Reply>[] {
    const now = this.#options.nowMs();
    return batch.filter((pending) => {
      if (pending.deadlineAtMs > now) return true;
      pending.reject(unavailable("the database did not answer in time; nothing was written"));
      return false;
    });
  }

  /**
   * Finds out whether a batch whose COMMIT went unanswered was recorded. Answers the batch when it was (true)
   * or when it can't be learned in time (true); false: it was not, and may be tried again.
   */
  async #wasRecorded(plan: Plan<Reply>, batch: readonly Pending<Item, Reply>[]): Promise<boolean> {
    const recorded = await this.#lookUp(plan);
    if (recorded === true) await this.#answer(batch, plan);
    if (recorded !== null) return recorded;
    for (const { reject } of batch) {
      reject(new Refusal("outcomeUnknown", "it could not be learned whether this was written"));
    }
    return true;
  }

  /** Whether a plan was recorded; null when that can't be learned in time. */
  async #lookUp(plan: Plan<Reply>): Promise<boolean | null> {
    const untilMs = this.#options.nowMs() + this.#options.deadlineMs;
    for (let attempt = 0; this.#options.nowMs() < untilMs; attempt += 1) {
      try {
        return await this.#connections.transaction((again) => isRecorded(again, plan));
      } catch (error) {
        if (!isTransient(error)) return null;
        await sleep(backoffMs(attempt));
      }
    }
    return null;
  }

  /**
   * Gives each caller its outcome, now that the plan holds. Some a turn of the event loop: what the database says of
   * the next batch is heard in between, and need not wait until all of these are told.
   */
  async #answer(batch: readonly Pending<Item, Reply>[], plan: Plan<Reply>): Promise<void> {
    try {
      plan.onCommitted?.();
    } catch (error) {
      this.#options.onFailure(error);
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      if (index > 0 && index % answersPerTurn === 0) await nextTurn();
      const outcome = plan.outcomes[index];
      if (outcome === undefined) reject(new Error("an item of a batch has no outcome"));
      else if ("reply" in outcome) resolve(outcome.reply);
      else reject(outcome.refusal);
    }
  }
}

/** Sends what ends a batch's transaction, without waiting. Throws when its plan is none. */
function sendEnd<Reply>(
  transaction: WriteTransaction,
  plan: Plan<Reply>,
  items: number,
): Promise<void> {
  assert(plan.outcomes.length === items, "a plan has an outcome for each item");
  return plan.recording === null
    ? transaction.rollBack()
    : transaction.commit(plan.recording.send(transaction));
}

/** Whether all that a batch was to record is in the books. */
async function isRecorded<Reply>(
  transaction: WriteTransaction,
  { recording }: Plan<Reply>,
): Promise<boolean> {
  if (recording === null) return true;
  // What is there is there, whoever holds the lock: on a lost connection that the database does not know
  // to be lost, that can be the batch behind this one, for longer than anybody waits.
  if (await recording.isThere(transaction)) return true;
  const [, isThere] = await Promise.all([
    recording.lock(transaction),
    recording.isThere(transaction),
  ]);
  return isThere;
}

/** Undoes an attempt of which nothing was recorded, and gives its writes back. */
async function undo<Item, Reply>(
  attempt: Attempt<Item, Reply> | null,
): Promise<readonly Pending<Item, Reply>[]> {
  if (attempt === null) return [];
  await attempt.planned.catch(() => undefined);
  await attempt.transaction.rollBack();
  return attempt.batch;
}

async function turnsOfEventLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** 10 ms, doubling, up to a bound; a random half of it is left out, so that servers do not retry in step. */
function backoffMs(attempt: number): number {
  return Math.min(backoffMsMax, 10 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
}

/** The refusal of a write that certainly was not made. */
export function unavailable(detail: string, cause?: unknown): Refusal {
  return new Refusal("unavailable", detail, { cause });
}

// Group commit: writes wait in lanes, and while one batch of a lane is being committed the next one gathers.
// Generic over what is written: no rule of the journal or of wallets is here.
import { overloadRefusal, Refusal } from "../core/errors.ts";
import type { Pool } from "../store/database/pool.ts";
import { BatchRecovery } from "./batch-recovery.ts";
import { BatchRunner, rejectTimedOut } from "./batch-runner.ts";
import type {
  Batch,
  GroupCommitOptions,
  LaneContext,
  LaneWork,
  PendingWrite,
} from "./lane-work.ts";
import type { Tally } from "./write-counts.ts";

/** What waits in all lanes, with the batches that are under way. */
export interface QueueState {
  readonly writes: number;
  readonly bytes: number;
  /** Batches that were tried again since the start, over trouble that passes. */
  readonly retries: number;
}

interface Lane<Item, Reply> {
  readonly key: string;
  readonly waiting: PendingWrite<Item, Reply>[];
  /** What waits, with the batch that is under way. */
  queuedItems: number;
  queuedBytes: number;
}

/** Made once: its stack would cost as much as the rest of a rejection. */
export const lanesOverloaded = overloadRefusal(
  "too many writes are waiting; try again in a moment",
);

/** Each COMMIT that waits in vain keeps a session of the database, also once its connection is dropped. */
export const commitsHalted = new Refusal(
  "unavailable",
  "the database waits for a standby that does not answer; nothing was written; try again later",
);

/** So many full batches may wait in a lane, however long. */
const patientBatches = 2;

export class GroupCommit<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;
  readonly #runner: BatchRunner<Item, Reply>;
  readonly #recovery: BatchRecovery<Item, Reply>;
  /** Lanes with work; an idle lane is forgotten. */
  readonly #lanes = new Map<string, Lane<Item, Reply>>();
  #queuedItems = 0;
  #queuedBytes = 0;
  #isDraining = false;
  #whenIdle: (() => void)[] = [];

  constructor(
    pool: Pool,
    work: LaneWork<Item, Reply>,
    options: GroupCommitOptions,
    tally: Tally<Item, Reply> | null = null,
  ) {
    this.#context = { pool, work, options, tally };
    this.#runner = new BatchRunner(this.#context);
    this.#recovery = new BatchRecovery(this.#context, this.#runner);
  }

  get state(): QueueState {
    return { writes: this.#queuedItems, bytes: this.#queuedBytes, retries: this.#recovery.retries };
  }

  /**
   * Queues an item in a lane and resolves with its reply once the database has flushed it. Rejects
   * with a Refusal (the work's own, `unavailable` or `outcomeUnknown`), or with the error of a bug.
   * `bytes` is what the item holds in memory, roughly.
   */
  submit(laneKey: string, item: Item, bytes: number): Promise<Reply> {
    const { tally, options } = this.#context;
    if (this.#isDraining)
      return this.#refuse(item, new Refusal("unavailable", "the server is stopping"));
    if (options.areCommitsHalted?.() === true) return this.#refuse(item, commitsHalted);
    const found = this.#lanes.get(laneKey);
    if (!this.#takes(found, bytes)) return this.#refuse(item, lanesOverloaded);
    const lane = found ?? this.#openLane(laneKey);
    return new Promise((resolve, reject) => {
      const fail: (error: unknown) => void = reject;
      lane.waiting.push({
        item,
        bytes,
        deadlineAtMs: options.nowMs() + options.deadlineMs,
        resolve: (reply) => {
          this.#count(lane, -1, -bytes);
          tally?.replied(item, reply);
          resolve(reply);
        },
        reject: (error) => {
          this.#count(lane, -1, -bytes);
          tally?.rejected(item, error);
          fail(error);
        },
      });
      this.#count(lane, 1, bytes);
    });
  }

  /** Whether a lane would refuse whatever is submitted. Costs little: it is asked before a request is read. */
  isFull(laneKey: string): boolean {
    return !this.#takes(this.#lanes.get(laneKey), 0);
  }

  #refuse(item: Item, refusal: Refusal): Promise<never> {
    this.#context.tally?.rejected(item, refusal);
    return Promise.reject(refusal);
  }

  /** Accepts nothing more and resolves when everything accepted has its answer. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#lanes.size === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #takes(lane: Lane<Item, Reply> | undefined, bytes: number): boolean {
    const { queueItemsMax, queueBytesMax, laneItemsMax, laneBytesMax } = this.#context.options;
    if (this.#queuedItems >= queueItemsMax) return false;
    if (this.#queuedBytes + bytes > queueBytesMax) return false;
    if (lane === undefined || lane.queuedItems === 0) return true;
    if (lane.queuedItems >= laneItemsMax || lane.queuedBytes + bytes > laneBytesMax) return false;
    return !this.#isSlow(lane);
  }

  #isSlow({ waiting }: Lane<Item, Reply>): boolean {
    const { batchItemsMax, laneWaitMsMax, deadlineMs, nowMs } = this.#context.options;
    const [first] = waiting;
    if (first === undefined || waiting.length < patientBatches * batchItemsMax) return false;
    return nowMs() - (first.deadlineAtMs - deadlineMs) > laneWaitMsMax;
  }

  #openLane(key: string): Lane<Item, Reply> {
    const lane: Lane<Item, Reply> = { key, waiting: [], queuedItems: 0, queuedBytes: 0 };
    this.#lanes.set(key, lane);
    // Requests that arrived in the same tick of the event loop share the first batch.
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
      const failed = await this.#runner.run(lane.key, () => this.#takeBatch(lane), false);
      if (failed === null) continue;
      lane.waiting.unshift(...failed.next);
      await this.#recovery.recover(lane.key, failed);
    }
    this.#lanes.delete(lane.key);
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }

  /** Takes what waits, as much as makes a batch. */
  #takeBatch(lane: Lane<Item, Reply>): Batch<Item, Reply> {
    const { batchItemsMax, batchBytesMax } = this.#context.options;
    let bytes = 0;
    let count = 0;
    for (const pending of lane.waiting) {
      bytes += pending.bytes;
      if (count > 0 && (count === batchItemsMax || bytes > batchBytesMax)) break;
      count += 1;
    }
    return rejectTimedOut(lane.waiting.splice(0, count), this.#context.options.nowMs());
  }
}

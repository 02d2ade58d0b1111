// Group commit: writes wait in lanes, and while one batch of a lane is being committed the next one comes in.
// Generic over what is written: no rule of the journal or of wallets is here.
import { overloadRefusal, Refusal } from "../core/errors.ts";
import { evictOldest } from "../core/evict-oldest.ts";
import type { Pool } from "../store/database/pool.ts";
import { BatchRecovery } from "./batch-recovery.ts";
import { BatchRunner } from "./batch-runner.ts";
import { Gathering } from "./gathering.ts";
import { Lane } from "./lane.ts";
import type { GroupCommitOptions, LaneContext, LaneWork } from "./lane-work.ts";
import type { Tally } from "./write-counts.ts";

/** Of so many lanes it is kept what was learned of their clients. */
const gatheringsMax = 1_000;

/** What waits in all lanes, with the batches that are under way. */
export interface QueueState {
  readonly writes: number;
  readonly bytes: number;
  /** Batches that were tried again since the start, over trouble that passes. */
  readonly retries: number;
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

export class GroupCommit<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;
  readonly #runner: BatchRunner<Item, Reply>;
  readonly #recovery: BatchRecovery<Item, Reply>;
  /** Lanes with work; an idle lane is forgotten. */
  readonly #lanes = new Map<string, Lane<Item, Reply>>();
  /** Those of the lanes that were opened last at the end. */
  readonly #gatherings = new Map<string, Gathering>();
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
      lane.add({
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
    const { queueItemsMax, queueBytesMax } = this.#context.options;
    if (this.#queuedItems >= queueItemsMax) return false;
    if (this.#queuedBytes + bytes > queueBytesMax) return false;
    return lane === undefined || lane.accepts(bytes);
  }

  #openLane(key: string): Lane<Item, Reply> {
    const lane = new Lane<Item, Reply>(key, this.#context.options, this.#gatheringOf(key));
    this.#lanes.set(key, lane);
    // Requests that are begun in the same tick of the event loop share the first batch.
    setImmediate(() => void this.#runLane(lane));
    return lane;
  }

  #gatheringOf(key: string): Gathering {
    const gathering = this.#gatherings.get(key) ?? new Gathering();
    this.#gatherings.delete(key);
    evictOldest(this.#gatherings, gatheringsMax);
    this.#gatherings.set(key, gathering);
    return gathering;
  }

  #count(lane: Lane<Item, Reply>, items: number, bytes: number): void {
    this.#queuedItems += items;
    this.#queuedBytes += bytes;
    lane.addToTotals(items, bytes);
  }

  async #runLane(lane: Lane<Item, Reply>): Promise<void> {
    while (lane.waitingCount > 0) {
      const failed = await this.#runner.run(lane, false);
      if (failed === null) continue;
      lane.putBack(failed.next);
      await this.#recovery.recover(lane.key, failed);
    }
    this.#lanes.delete(lane.key);
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }
}

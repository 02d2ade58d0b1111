// The queue of one lane: what waits in it, and how it becomes batches.
import { Refusal } from "../core/errors.ts";
import type { Gathering } from "./gathering.ts";
import type { Batch, GroupCommitOptions, PendingWrite } from "./lane-work.ts";

/** So many full batches may wait in a lane, however long. */
const patientBatches = 2;

/** What waits to be written in one ledger, in the order of its arrival. */
export class Lane<Item, Reply> {
  /** The ledger's id. */
  readonly key: string;
  readonly gathering: Gathering | null;
  readonly #options: GroupCommitOptions;
  readonly #waiting: PendingWrite<Item, Reply>[] = [];
  /** What waits, with the batch that is under way. */
  #items = 0;
  #bytes = 0;
  /** Who waits for how many writes. */
  #waiter = { count: 0, onReached: (): void => undefined };

  /** Without `gathering`, its batches neither wait for clients nor look for others. */
  constructor(key: string, options: GroupCommitOptions, gathering: Gathering | null = null) {
    this.key = key;
    this.gathering = gathering;
    this.#options = options;
  }

  /** How many writes wait, without the batch that is under way. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Of what waits and is under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds to what waits or is under way; less than zero for what is answered. */
  addToTotals(items: number, bytes: number): void {
    this.#items += items;
    this.#bytes += bytes;
  }

  /** Whether a write of so many bytes is within the lane's limits; in an empty lane any is. */
  accepts(bytes: number): boolean {
    const { laneItemsMax, laneBytesMax } = this.#options;
    if (this.#items === 0) return true;
    if (this.#items >= laneItemsMax || this.#bytes + bytes > laneBytesMax) return false;
    return !this.#isSlow();
  }

  #isSlow(): boolean {
    const { batchItemsMax, laneWaitMsMax, deadlineMs, nowMs } = this.#options;
    const [first] = this.#waiting;
    if (first === undefined || this.waitingCount < patientBatches * batchItemsMax) return false;
    return nowMs() - (first.deadlineAtMs - deadlineMs) > laneWaitMsMax;
  }

  /** Puts a write behind what waits. */
  add(write: PendingWrite<Item, Reply>): void {
    this.#waiting.push(write);
    if (this.waitingCount === this.#waiter.count) this.#waiter.onReached();
  }

  /** Puts a batch before what waits. */
  putBack(batch: Batch<Item, Reply>): void {
    this.#waiting.unshift(...batch);
  }

  /** Takes what waits, as much as makes a batch; nothing where nothing waits. */
  takeBatch(): Batch<Item, Reply> {
    const { batchItemsMax, batchBytesMax, nowMs } = this.#options;
    let bytes = 0;
    let count = 0;
    for (const pending of this.#waiting) {
      bytes += pending.bytes;
      if (count > 0 && (count === batchItemsMax || bytes > batchBytesMax)) break;
      count += 1;
    }
    return rejectTimedOut(this.#waiting.splice(0, count), nowMs());
  }

  /**
   * Resolves once so many writes wait, and what was begun together with them is in the lane, too. For one at a time: of two, only
   * the later one is told.
   */
  async whenWaiting(count: number): Promise<void> {
    if (this.waitingCount >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiter = { count, onReached: () => setImmediate(resolve) };
    });
  }
}

/** Rejects with `unavailable` what has waited too long, none of which was written. Returns the rest. */
export function rejectTimedOut<Item, Reply>(
  batch: Batch<Item, Reply>,
  nowMs: number,
): Batch<Item, Reply> {
  return batch.filter((pending) => {
    if (pending.deadlineAtMs > nowMs) return true;
    const detail = "the database did not answer in time; nothing was written";
    pending.reject(new Refusal("unavailable", detail));
    return false;
  });
}

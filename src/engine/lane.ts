// The queue of one lane: what waits in it, and how it becomes batches.
import { Refusal } from "../core/errors.ts";
import type { Batch, GroupCommitOptions, PendingWrite } from "./lane-work.ts";

/** So many full batches may wait in a lane, however long. */
const patientBatches = 2;

export class Lane<Item, Reply> {
  readonly key: string;
  readonly #options: GroupCommitOptions;
  readonly #waiting: PendingWrite<Item, Reply>[] = [];
  /** What waits, with the batch that is under way. */
  #items = 0;
  #bytes = 0;
  #awaited = { count: 0, onReached: (): void => undefined };

  constructor(key: string, options: GroupCommitOptions) {
    this.key = key;
    this.#options = options;
  }

  /** How many writes wait, without the batch that is under way. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Counts what is queued and what is answered. */
  count(items: number, bytes: number): void {
    this.#items += items;
    this.#bytes += bytes;
  }

  /** Whether the lane has room for a write of so many bytes; an empty one has it for any. */
  takes(bytes: number): boolean {
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

  add(write: PendingWrite<Item, Reply>): void {
    this.#waiting.push(write);
    if (this.waitingCount === this.#awaited.count) this.#awaited.onReached();
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
   * Resolves when so many writes wait, those of one tick of the event loop together. Whoever waited before is not
   * told any more.
   */
  async whenWaiting(count: number): Promise<void> {
    if (this.waitingCount >= count) return;
    await new Promise<void>((resolve) => {
      this.#awaited = { count, onReached: () => setImmediate(resolve) };
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

// Recovery of a batch that failed: tried again, looked up where its COMMIT is ambiguous, and halved until one
// bad item stands alone.
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../core/errors.ts";
import type { Connection } from "../store/database/connection.ts";
import {
  AmbiguousCommit,
  isDatabaseTrouble,
  isTransient,
  KeyConflict,
  PartialCommit,
} from "../store/database/errors.ts";
import type { BatchRunner } from "./batch-runner.ts";
import { Lane, rejectTimedOut } from "./lane.ts";
import type { Batch, FailedBatch, LaneContext, Plan, Recording } from "./lane-work.ts";

const backoffMsMax = 400;
/** How often a batch is planned anew over idempotency keys that others use meanwhile, before it is halved. */
const keyConflictsMax = 4;
/** How often a batch whose COMMIT failed, and is known not to have happened, is tried as a whole, before it is halved. */
const ambiguousRetriesMax = 3;

export class BatchRecovery<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;
  readonly #runner: BatchRunner<Item, Reply>;
  /** Batches that were tried again since the start, over trouble that passes. */
  retries = 0;

  constructor(context: LaneContext<Item, Reply>, runner: BatchRunner<Item, Reply>) {
    this.#context = context;
    this.#runner = runner;
  }

  /** Resolves when each item of a batch that failed has its answer. */
  async recover(
    laneKey: string,
    failed: FailedBatch<Item, Reply>,
    looksUpKeys = false,
  ): Promise<void> {
    let failure: FailedBatch<Item, Reply> | null = failed;
    let looksUp = looksUpKeys;
    let keyConflicts = 0;
    for (let retry = 0; failure !== null; retry += 1) {
      const { batch, plan, error }: FailedBatch<Item, Reply> = failure;
      if (isDatabaseTrouble(error)) this.#context.options.onFailure(error);
      if (error instanceof PartialCommit) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const isAmbiguous = error instanceof AmbiguousCommit && plan !== null;
      if (isAmbiguous && (await this.#resolveAmbiguity(plan, batch))) return;
      if (error instanceof KeyConflict && keyConflicts < keyConflictsMax) {
        looksUp = true;
        keyConflicts += 1;
      } else if (isTransient(error) || (isAmbiguous && retry < ambiguousRetriesMax)) {
        // Of an ambiguous one it is known by now that it did not happen: a node went away in its COMMIT.
        this.retries += 1;
        await sleep(backoffMs(retry));
      } else {
        await this.#isolate(laneKey, batch, error);
        return;
      }
      failure = await this.#runAlone(laneKey, batch, looksUp);
    }
  }

  /** One bad item must not fail its neighbours: halves the batch until it stands alone. */
  async #isolate(laneKey: string, batch: Batch<Item, Reply>, error: unknown): Promise<void> {
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    for (const half of [batch.slice(0, middle), batch.slice(middle)]) {
      const failure = await this.#runAlone(laneKey, half, true);
      if (failure !== null) await this.recover(laneKey, failure, true);
    }
  }

  /** Runs one batch, without what has timed out. */
  async #runAlone(
    laneKey: string,
    batch: Batch<Item, Reply>,
    looksUpKeys: boolean,
  ): Promise<FailedBatch<Item, Reply> | null> {
    const open = rejectTimedOut(batch, this.#context.options.nowMs());
    if (open.length === 0) return null;
    const lane = new Lane<Item, Reply>(laneKey, this.#context.options);
    lane.putBack(open);
    return this.#runner.run(lane, looksUpKeys);
  }

  /**
   * Learns the outcome of a COMMIT that was not confirmed. Answers the batch when it was committed (true) or when
   * that can't be learned in time (true); false: it was not, and may be tried again.
   */
  async #resolveAmbiguity(plan: Plan<Reply>, batch: Batch<Item, Reply>): Promise<boolean> {
    if (plan.recording === null) {
      // Decided anew while there is time: what it saw may not have outlasted a failover. Later, "nothing was
      // written" would be wrong of what may be a duplicate.
      const nowMs = this.#context.options.nowMs();
      if (batch.every(({ deadlineAtMs }) => deadlineAtMs > nowMs)) return false;
      rejectUnknown(batch);
      return true;
    }
    const isCommitted = await this.#lookUp(plan.recording);
    if (isCommitted === true) await this.#runner.answer(batch, plan);
    if (isCommitted !== null) return isCommitted;
    rejectUnknown(batch);
    return true;
  }

  /** Whether a batch was committed, and stays so; null when that can't be learned in time. */
  async #lookUp(recording: Recording): Promise<boolean | null> {
    const { pool, options } = this.#context;
    const untilMs = options.nowMs() + options.deadlineMs;
    for (let attempt = 0; ; attempt += 1) {
      const timeoutMs = untilMs - options.nowMs();
      if (timeoutMs <= 0) return null;
      try {
        return await pool
          .within({ timeoutMs })
          .transaction((transaction) => isCommitted(transaction, recording));
      } catch (error) {
        if (!isTransient(error)) return null;
        await sleep(backoffMs(attempt));
      }
    }
  }
}

/**
 * Whether all that a batch was to record is in the database. It holds once the transaction is committed: seeing a
 * row proves nothing, since the COMMIT of the batch may have been cut off while it waited for a standby.
 */
async function isCommitted(transaction: Connection, recording: Recording): Promise<boolean> {
  // What is there is there, whoever holds the lock: on a lost connection that the database does not know
  // to be lost, that can be the next batch, for longer than anybody waits.
  if (await recording.isCommitted(transaction)) {
    await recording.writeBarrier(transaction);
    return true;
  }
  const [, isFound] = await Promise.all([
    recording.lock(transaction),
    recording.isCommitted(transaction),
  ]);
  return isFound;
}

function rejectUnknown<Item, Reply>(batch: Batch<Item, Reply>): void {
  for (const { reject } of batch) {
    reject(new Refusal("outcomeUnknown", "it could not be learned whether this was written"));
  }
}

/** 10 ms, doubling, up to a bound; half of it at random, so that servers do not try again together. */
function backoffMs(attempt: number): number {
  const ms = Math.min(backoffMsMax, 10 * 2 ** Math.min(attempt, 10));
  return ms * (0.5 + Math.random() / 2);
}

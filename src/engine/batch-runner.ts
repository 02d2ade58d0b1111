// Runs the batches of a lane on one connection, each pipelined behind the one before.
import { setImmediate as immediate } from "node:timers/promises";
import { assert, Refusal } from "../core/errors.ts";
import type { PipelinedConnection, Transaction } from "../store/database/pipeline.ts";
import type { Attempt, Batch, FailedBatch, LaneContext, Plan } from "./lane-work.ts";

const answersPerTick = 24;
/** Ticks of the event loop between a COMMIT and the locks of the next batch; more than two let the database wait. */
const gatheringTicks = 2;

export class BatchRunner<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;

  constructor(context: LaneContext<Item, Reply>) {
    this.#context = context;
  }

  /**
   * Runs the batches that `take` gives until it gives none, others want the connection, or a batch fails. The
   * locks of a batch follow the COMMIT of the one before without waiting for its answer, so that the database
   * works while the callers of one batch are answered and the next but one gathers.
   */
  async run(
    laneKey: string,
    take: () => Batch<Item, Reply>,
    looksUpKeys: boolean,
  ): Promise<FailedBatch<Item, Reply> | null> {
    const { pool, options, tally } = this.#context;
    let connection: PipelinedConnection;
    try {
      connection = await pool.borrow();
    } catch (error) {
      const batch = take();
      return batch.length === 0 ? null : { batch, plan: null, error, next: [] };
    }
    const attemptNext = () => this.#attempt(connection, laneKey, take(), looksUpKeys);
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
          return { batch, plan, error, next: [] };
        }
        // While the database flushes, those who were just answered ask again: a larger batch costs little more.
        await Promise.race([ended, ticks(gatheringTicks)]).catch(() => undefined);
        // Outside of what is tried: a fault of it is none of this batch's.
        const next = pool.isWanted ? null : attemptNext();
        try {
          await ended;
        } catch (error) {
          return { batch, plan, error, next: await undo(next) };
        }
        if (plan.recording !== null) {
          tally?.committed(batch.length, options.nowMs() - attempt.startedMs);
        }
        const committed = plan;
        answered = answered.then(() => this.answer(batch, committed));
        attempt = next ?? (pool.isWanted ? null : attemptNext());
      }
      return null;
    } finally {
      pool.giveBack(connection);
      await answered;
    }
  }

  /**
   * Gives each caller its outcome, now that the plan holds. Some a tick: the answer about the next batch's locks is
   * read in between, and need not wait for all of these.
   */
  async answer(batch: Batch<Item, Reply>, plan: Plan<Reply>): Promise<void> {
    try {
      plan.onCommitted?.();
    } catch (error) {
      this.#context.options.onFailure(error);
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      if (index > 0 && index % answersPerTick === 0) await immediate();
      const outcome = plan.outcomes[index];
      if (outcome === undefined) reject(new Error("an item of a batch has no outcome"));
      else if ("reply" in outcome) resolve(outcome.reply);
      else reject(outcome.refusal);
    }
  }

  /** Sends the locks and reads of a batch; null for one without writes. */
  #attempt(
    connection: PipelinedConnection,
    laneKey: string,
    batch: Batch<Item, Reply>,
    looksUpKeys: boolean,
  ): Attempt<Item, Reply> | null {
    if (batch.length === 0) return null;
    const { work, options } = this.#context;
    const startedMs = options.nowMs();
    const transaction = connection.begin();
    const items = batch.map(({ item }) => item);
    const planned = work.plan(transaction, laneKey, items, looksUpKeys);
    // Asked for only when the batch before is committed.
    planned.catch(() => undefined);
    return { batch, transaction, planned, startedMs };
  }
}

/**
 * Sends what ends a batch's transaction, without waiting. Throws when its plan is none. One that records nothing is
 * committed too: its locks write to the log, so that its COMMIT waits until the standbys have what its duplicates
 * and refusals tell of (docs/decisions/0010).
 */
function sendEnd<Reply>(transaction: Transaction, plan: Plan<Reply>, items: number): Promise<void> {
  assert(plan.outcomes.length === items, "a plan has an outcome for each item");
  return transaction.commit(plan.recording?.send(transaction) ?? []);
}

/** Rolls back an attempt of which nothing was recorded, and gives its writes back. */
async function undo<Item, Reply>(
  attempt: Attempt<Item, Reply> | null,
): Promise<Batch<Item, Reply>> {
  if (attempt === null) return [];
  await attempt.planned.catch(() => undefined);
  await attempt.transaction.rollBack();
  return attempt.batch;
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await immediate();
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

// Runs the batches of a lane on one connection, each pipelined behind the one before.
import { setImmediate as immediate } from "node:timers/promises";
import { assert, Refusal } from "../core/errors.ts";
import { holdShard } from "../store/citus-nodes.ts";
import { findCause, HostFailure, LedgerMoved } from "../store/database/errors.ts";
import type { PipelinedConnection, Transaction } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import type { LedgerShard } from "./ledger-nodes.ts";
import type { Attempt, Batch, FailedBatch, LaneContext, Plan } from "./lane-work.ts";

const answersPerTick = 24;
/** Ticks of the event loop between a COMMIT and the locks of the next batch; more than two let the database wait. */
const gatheringTicks = 2;

/** A connection to where a lane's ledger is: to the node that has its shard, or without one to the database itself. */
interface Place {
  readonly pool: Pool;
  readonly shard: LedgerShard | null;
  readonly connection: PipelinedConnection;
}

export class BatchRunner<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;

  constructor(context: LaneContext<Item, Reply>) {
    this.#context = context;
  }

  /**
   * Runs the batches that `take` gives until it gives none, others want the connection, the ledger is found to be
   * elsewhere, or a batch fails. The locks of a batch follow the COMMIT of the one before without waiting for its
   * answer, so that the database works while the callers of one batch are answered and the next but one gathers.
   */
  async run(
    laneKey: string,
    take: () => Batch<Item, Reply>,
    looksUpKeys: boolean,
  ): Promise<FailedBatch<Item, Reply> | null> {
    const { options, tally } = this.#context;
    let place: Place;
    try {
      place = await this.#borrow(laneKey);
    } catch (error) {
      const batch = take();
      return batch.length === 0 ? null : { batch, plan: null, error, next: [] };
    }
    const attemptNext = () => this.#attempt(place, laneKey, take(), looksUpKeys);
    const isOver = () => place.pool.isWanted || this.#find(laneKey) !== place.shard;
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
          if (error instanceof LedgerMoved && place.shard) options.nodes?.forget(place.shard);
          return { batch, plan, error, next: [] };
        }
        // While the database flushes, those who were just answered ask again: a larger batch costs little more.
        await Promise.race([ended, ticks(gatheringTicks)]).catch(() => undefined);
        // Outside of what is tried: a fault of it is none of this batch's.
        const next = isOver() ? null : attemptNext();
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
        attempt = next ?? (isOver() ? null : attemptNext());
      }
      return null;
    } finally {
      place.pool.giveBack(place.connection);
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

  #find(laneKey: string): LedgerShard | null {
    return this.#context.options.nodes?.find(laneKey) ?? null;
  }

  async #borrow(laneKey: string): Promise<Place> {
    const { pool, options } = this.#context;
    const shard = this.#find(laneKey);
    if (shard !== null) {
      try {
        return { pool: shard.pool, shard, connection: await shard.pool.borrow() };
      } catch (error) {
        if (findCause(error, HostFailure) === null) throw error;
        options.nodes?.passOver(shard.pool);
      }
    }
    return { pool, shard: null, connection: await pool.borrow() };
  }

  /** Sends the locks and reads of a batch; null for one without writes. */
  #attempt(
    { shard, connection }: Place,
    laneKey: string,
    batch: Batch<Item, Reply>,
    looksUpKeys: boolean,
  ): Attempt<Item, Reply> | null {
    if (batch.length === 0) return null;
    const { work, options } = this.#context;
    const startedMs = options.nowMs();
    const transaction = connection.begin(shard?.names ?? null);
    const held = shard === null ? Promise.resolve() : holdShard(transaction, shard.id);
    const items = batch.map(({ item }) => item);
    const plan = work.plan(transaction, laneKey, items, looksUpKeys);
    plan.catch(() => undefined);
    // Whatever the statements found on a node that has the ledger no more, it is not true any more.
    const planned = held.then(() => plan);
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

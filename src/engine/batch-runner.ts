// Runs the batches of a lane, each pipelined behind the one before.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { assert } from "../core/errors.ts";
import { holdShard } from "../store/citus-nodes.ts";
import { LedgerMoved } from "../store/database/errors.ts";
import type { Transaction } from "../store/database/pipeline.ts";
import { LaneConnections } from "./lane-connections.ts";
import type { Lane } from "./lane.ts";
import type { LedgerShard } from "./ledger-nodes.ts";
import type { Attempt, Batch, FailedBatch, LaneContext, Plan } from "./lane-work.ts";

const answersPerTick = 24;
/** Ticks of the event loop between a COMMIT and the locks of the next batch; more than two let the database wait. */
const gatheringTicks = 2;

/** How long a lane that others write to as well is gathered for at most. */
const gatheringMsMax = 4;

export class BatchRunner<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;

  constructor(context: LaneContext<Item, Reply>) {
    this.#context = context;
  }

  /**
   * Runs the batches of a lane until nothing waits in it, others want the connection, the ledger is found to be
   * elsewhere, or a batch fails. The locks of a batch follow the COMMIT of the one before without waiting for its
   * answer, so that the database works while the callers of one batch are answered and the next but one gathers.
   */
  async run(
    lane: Lane<Item, Reply>,
    looksUpKeys: boolean,
  ): Promise<FailedBatch<Item, Reply> | null> {
    const { options, tally } = this.#context;
    let connections: LaneConnections;
    try {
      connections = await LaneConnections.borrow(this.#context, this.#find(lane.key));
    } catch (error) {
      const batch = lane.takeBatch();
      return batch.length === 0 ? null : { batch, plan: null, error, next: [] };
    }
    const isOver = () => connections.areWanted || this.#find(lane.key) !== connections.shard;
    const attemptNext = (mayOverlap = false) =>
      isOver() ? null : this.#attempt(connections, lane, looksUpKeys, mayOverlap);
    let headLeft: number | null = null;
    let answered = Promise.resolve();
    try {
      let attempt = this.#attempt(connections, lane, looksUpKeys, false);
      while (attempt !== null) {
        const { batch, transaction } = attempt;
        let plan: Plan<Reply> | null = null;
        let ended: Promise<void>;
        try {
          plan = await attempt.planned;
          ended = sendEnd(transaction, plan, batch.length);
        } catch (error) {
          await transaction.rollBack();
          const { shard } = connections;
          if (error instanceof LedgerMoved && shard !== null) options.nodes?.forget(shard);
          return { batch, plan, error, next: [] };
        }
        const { head = null, locksAllItWrites = false, recording } = plan;
        const isShared = head !== null && headLeft !== null && head.found !== headLeft;
        headLeft = head?.left ?? null;
        if (locksAllItWrites && batch.length >= options.largeBatchItems) connections.borrowSecond();
        const gathered = this.#whenGathered(lane, locksAllItWrites);
        await Promise.race([ended, gathered]).catch(() => undefined);
        // Outside of what is tried: a fault of it is none of this batch's.
        const next = isShared ? null : attemptNext(locksAllItWrites);
        try {
          await ended;
        } catch (error) {
          return { batch, plan, error, next: await undo(next) };
        }
        if (recording !== null) tally?.committed(batch.length, options.nowMs() - attempt.startedMs);
        const committed = plan;
        answered = answered.then(() => this.answer(batch, committed));
        if (isShared) await whenAskedAgain(lane, batch.length);
        attempt = next ?? attemptNext();
      }
      return null;
    } finally {
      connections.giveBack();
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

  /**
   * Resolves when the next batch should be taken: while the database flushes, those who were just answered ask again, and a
   * larger batch costs little more. Where none of them did, but a large batch may overlap this one, when there is one.
   */
  async #whenGathered(lane: Lane<Item, Reply>, mayOverlap: boolean): Promise<void> {
    await ticks(gatheringTicks);
    if (mayOverlap && lane.waitingCount === 0) {
      await lane.whenWaiting(this.#context.options.largeBatchItems);
    }
  }

  /**
   * Sends the locks and reads of the next batch; null where nothing waits. A large one may overlap the batch that is being
   * recorded: on the other connection it waits for that one's COMMIT only where both lock the same row.
   */
  #attempt(
    connections: LaneConnections,
    lane: Lane<Item, Reply>,
    looksUpKeys: boolean,
    mayOverlap: boolean,
  ): Attempt<Item, Reply> | null {
    const batch = lane.takeBatch();
    if (batch.length === 0) return null;
    const { work, options } = this.#context;
    if (mayOverlap && batch.length >= options.largeBatchItems) connections.takeTurns();
    const startedMs = options.nowMs();
    const transaction = connections.begin();
    const { shard } = connections;
    const held = shard === null ? Promise.resolve() : holdShard(transaction, shard.id);
    const items = batch.map(({ item }) => item);
    const plan = work.plan(transaction, lane.key, items, looksUpKeys);
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

/**
 * Resolves when as many as were answered have asked again, or a few ms later. Where another server's batch is under way,
 * this costs no time: it is had with the next batch's locks otherwise, by a batch of half as many.
 */
async function whenAskedAgain<Item, Reply>(
  lane: Lane<Item, Reply>,
  answered: number,
): Promise<void> {
  await Promise.race([lane.whenWaiting(lane.waitingCount + answered), sleep(gatheringMsMax)]);
}

// Runs the batches of a lane, each pipelined behind the one before, unless it waits for the clients of that one.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { assert } from "../core/errors.ts";
import type { Transaction } from "../store/database/pipeline.ts";
import { LaneConnections } from "./lane-connections.ts";
import type { Lane } from "./lane.ts";
import type { Attempt, Batch, FailedBatch, LaneContext, Plan } from "./lane-work.ts";

const answersPerTick = 24;
/**
 * Ticks of the event loop between a COMMIT and the locks of the next batch. What is read in the last of them is not in the
 * lane yet; with more, the database waits (docs/decisions/0008).
 */
const ticksBeforeNext = 3;
/** How long clients that were just answered are waited for; less leaves batches small (docs/decisions/0026). */
const waitMsMax = 4;

export class BatchRunner<Item, Reply> {
  readonly #context: LaneContext<Item, Reply>;

  constructor(context: LaneContext<Item, Reply>) {
    this.#context = context;
  }

  /**
   * Runs the batches of a lane until nothing waits in it, its connections are due, or a batch fails. The locks of a
   * batch mostly follow the COMMIT of the one before without waiting for its answer, so that the database works while the
   * callers of one batch are answered and the next but one comes in.
   */
  async run(
    lane: Lane<Item, Reply>,
    looksUpKeys: boolean,
  ): Promise<FailedBatch<Item, Reply> | null> {
    const { pool, options, tally } = this.#context;
    let connections: LaneConnections;
    try {
      connections = await LaneConnections.borrow(lane.key, { pool, nodes: options.nodes ?? null });
    } catch (error) {
      const batch = lane.takeBatch();
      return batch.length === 0 ? null : { batch, plan: null, error, next: [] };
    }
    let answered = Promise.resolve();
    try {
      let attempt = this.#attempt(lane, connections, { looksUpKeys });
      while (attempt !== null) {
        const { batch, transaction } = attempt;
        let plan: Plan<Reply> | null = null;
        let ended: Promise<void>;
        try {
          plan = await attempt.planned;
          // It may have waited for the batch before.
          transaction.requireConnection();
          ended = sendEnd(transaction, plan, batch.length);
        } catch (error) {
          await transaction.rollBack();
          return { batch, plan, error, next: [] };
        }
        const mayOverlap = plan.locksAllItChanges ?? false;
        if (mayOverlap && this.#isLarge(batch.length)) connections.borrowSecond();
        const waits = this.#nextWaits(lane, connections);
        if (!waits) {
          await Promise.race([ended, this.#whenNextMayFollow(lane, mayOverlap)]).catch(
            () => undefined,
          );
        }
        // Outside of what is tried: a fault of it is none of this batch's.
        const next =
          waits || connections.areDue
            ? null
            : this.#attempt(lane, connections, { looksUpKeys, mayOverlap });
        try {
          await ended;
        } catch (error) {
          return { batch, plan, error, next: await undo(next) };
        }
        const recordingMs = options.nowMs() - attempt.startedMs;
        if (plan.recording !== null) tally?.committed(batch.length, recordingMs);
        const committed = plan;
        answered = answered.then(() => this.answer(batch, committed));
        if (waits) await this.#whenAskedAgain(lane, batch.length, recordingMs);
        attempt = next;
        if (attempt === null && !connections.areDue) {
          attempt = this.#attempt(lane, connections, { looksUpKeys });
        }
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

  #isLarge(count: number): boolean {
    return count >= this.#context.options.largeBatchItems;
  }

  /**
   * Waits for `ticksBeforeNext` ticks, in which those who were just answered ask again: a larger batch costs little more. If
   * none of them did and the next batch may overlap this one, it waits for a large one.
   */
  async #whenNextMayFollow(lane: Lane<Item, Reply>, mayOverlap: boolean): Promise<void> {
    await ticks(ticksBeforeNext);
    if (mayOverlap && lane.waitingCount === 0) {
      await lane.whenWaiting(this.#context.options.largeBatchItems);
    }
  }

  /** Whether the next batch waits for the clients that this one answers; never where others want the connection. */
  #nextWaits({ gathering, bytes }: Lane<Item, Reply>, connections: LaneConnections): boolean {
    return gathering?.nextBatchWaits(!connections.areDue, bytes) ?? false;
  }

  /** Waits until as many have asked again as were answered, or a batch is full; for a few ms at most. */
  async #whenAskedAgain(
    lane: Lane<Item, Reply>,
    answered: number,
    recordingMs: number,
  ): Promise<void> {
    const { batchItemsMax, nowMs } = this.#context.options;
    const writes = lane.waitingCount;
    const startedMs = nowMs();
    const count = Math.min(writes + answered, batchItemsMax);
    await Promise.race([lane.whenWaiting(count), sleep(waitMsMax)]);
    const came = { writes: lane.waitingCount - writes, ms: nowMs() - startedMs };
    lane.gathering?.waited({ writes, ms: recordingMs }, came);
  }

  /** Has a batch look for others once in a while; a lone write does not, which would take as long again. */
  #lookForOthers(
    { key, gathering }: Lane<Item, Reply>,
    transaction: Transaction,
    count: number,
  ): void {
    if (gathering === null || count < 2 || !gathering.nextBatchLooks()) return;
    this.#context.work.isLockedByOthers(transaction, key).then(
      (answer) => {
        gathering.looked(answer);
      },
      // The batch fails of it.
      () => undefined,
    );
  }

  /**
   * Sends the locks and reads of the next batch; null where nothing waits. A large one may overlap the batch that is being
   * recorded: on the other connection it waits for that one's COMMIT only where both lock the same row.
   */
  #attempt(
    lane: Lane<Item, Reply>,
    connections: LaneConnections,
    { looksUpKeys, mayOverlap = false }: { looksUpKeys: boolean; mayOverlap?: boolean },
  ): Attempt<Item, Reply> | null {
    const batch = lane.takeBatch();
    if (batch.length === 0) return null;
    const { work, options } = this.#context;
    const overlaps = mayOverlap && this.#isLarge(batch.length) && connections.useOther();
    const startedMs = options.nowMs();
    const { transaction, located } = connections.begin();
    // One that overlaps the batch before it would see that one.
    if (!overlaps) this.#lookForOthers(lane, transaction, batch.length);
    const items = batch.map(({ item }) => item);
    const plan = work.plan(transaction, lane.key, items, looksUpKeys);
    plan.catch(() => undefined);
    const planned = located.then(() => plan);
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

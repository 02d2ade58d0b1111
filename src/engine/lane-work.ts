// Types of group commit: its options, what it needs to know of one kind of write, and what it makes of the writes
// of a lane.
import type { Refusal } from "../core/errors.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Transaction } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import type { LedgerNodes } from "./ledger-nodes.ts";
import type { Tally } from "./write-counts.ts";

export interface GroupCommitOptions {
  readonly batchItemsMax: number;
  /** Bodies of a batch together; one larger item still makes a batch of its own. */
  readonly batchBytesMax: number;
  /** Bodies waiting in all lanes together. */
  readonly queueBytesMax: number;
  readonly queueItemsMax: number;
  /** Bodies waiting in one lane, so that none can fill the queue alone; an empty lane takes any one item. */
  readonly laneBytesMax: number;
  readonly laneItemsMax: number;
  /**
   * A lane in which two full batches wait takes nothing more while the first write of them has waited longer:
   * those whose write was queued have their answer in time, however many more come.
   */
  readonly laneWaitMsMax: number;
  /** A batch of so many items may lock and read on a second connection while the one before it is recorded. */
  readonly largeBatchItems: number;
  /**
   * How long an item is tried, waiting included, before it times out; and then how long the outcome of an
   * ambiguous COMMIT is looked for.
   */
  readonly deadlineMs: number;
  readonly nowMs: () => number;
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  /** Where a database that Citus spreads has each ledger; unless given, all is written through the coordinator. */
  readonly nodes?: LedgerNodes;
  /**
   * Called with what no caller is answered: an `onCommitted` that threw (the batch is recorded), and trouble of
   * the database such as a full disk, at each attempt that fails of it.
   */
  readonly onFailure: (error: unknown) => void;
}

/** What became of one item of a batch: a reply, or the refusal that its caller gets. */
export type Outcome<Reply> = { readonly reply: Reply } | { readonly refusal: Refusal };

/** A batch that has been decided under its locks and waits to be recorded. */
export interface Plan<Reply> {
  /** One an item, in order. They hold only once the batch is committed. */
  readonly outcomes: readonly Outcome<Reply>[];
  /** Null when nothing is to be written; the transaction is committed all the same. */
  readonly recording: Recording | null;
  /** Called once the batch is known to be committed, before its callers are answered. */
  readonly onCommitted?: () => void;
  /**
   * Whether every row that the batch changes and a later one may depend on was locked. Not so where it inserts such rows:
   * other connections neither see them nor wait for them until its COMMIT.
   */
  readonly locksAllItChanges?: boolean;
}

/** How a batch is recorded, and how the outcome of its COMMIT is learned where that went unanswered. */
export interface Recording {
  /** Sends everything that records the batch, without waiting. */
  readonly send: (transaction: Connection) => Promise<unknown>[];
  /** In another transaction: takes a lock that waits for the one in which the batch was sent. */
  readonly lock: (transaction: Connection) => Promise<unknown>;
  /** In another transaction: whether the batch is in the database. */
  readonly isCommitted: (transaction: Connection) => Promise<boolean>;
  /** In that transaction: writes to the log, so that its COMMIT confirms what `isCommitted` saw. */
  readonly writeBarrier: (transaction: Connection) => Promise<unknown>;
}

/** How one kind of write is decided and recorded. Attempts may be repeated; only the last one counts. */
export interface LaneWork<Item, Reply> {
  /** Sent before a batch's own locks, once in a while: whether another transaction has the lock that every batch shares. */
  isLockedByOthers(transaction: Connection, laneKey: string): Promise<boolean>;
  /**
   * Locks, reads and decides. The locks are of rows, which is written to the log: the COMMIT confirms what was read.
   * With `looksUpKeys`, idempotency keys that are in use are looked up first; without,
   * recording may throw KeyConflict and the batch is planned again with it.
   */
  plan(
    transaction: Connection,
    laneKey: string,
    items: readonly Item[],
    looksUpKeys: boolean,
  ): Promise<Plan<Reply>>;
}

/** What all parts of a group commit work with. */
export interface LaneContext<Item, Reply> {
  readonly pool: Pool;
  readonly work: LaneWork<Item, Reply>;
  readonly options: GroupCommitOptions;
  readonly tally: Tally<Item, Reply> | null;
}

/** A write that waits for its answer. */
export interface PendingWrite<Item, Reply> {
  readonly item: Item;
  /** What it holds in memory, roughly. */
  readonly bytes: number;
  readonly deadlineAtMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

export type Batch<Item, Reply> = readonly PendingWrite<Item, Reply>[];

/** A batch whose locks and reads are sent. */
export interface Attempt<Item, Reply> {
  readonly batch: Batch<Item, Reply>;
  readonly transaction: Transaction;
  readonly planned: Promise<Plan<Reply>>;
  readonly startedMs: number;
}

/** A batch that was not committed, or whose COMMIT is ambiguous, with its plan as far as there is one. */
export interface FailedBatch<Item, Reply> {
  readonly batch: Batch<Item, Reply>;
  readonly plan: Plan<Reply> | null;
  readonly error: unknown;
  /** The batch that was pipelined behind it, which is rolled back. */
  readonly next: Batch<Item, Reply>;
}

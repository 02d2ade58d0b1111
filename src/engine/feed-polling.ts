// What the hubs of streams share: they look again and again at what they stream, and what they have read leaves only behind
// a COMMIT that confirms it (docs/decisions/0010).
import { Refusal } from "../core/errors.ts";
import type { PipelinedConnection } from "../store/database/pipeline.ts";
import { AmbiguousCommit } from "../store/database/errors.ts";
import { writeBarrier } from "../store/ledger-states.ts";
import { forEachLedger } from "./each-ledger.ts";
import { commitsHalted } from "./group-commit.ts";

export interface FeedOptions {
  readonly pollIntervalMs: number;
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** What is streamed could be polled. */
  readonly onSuccess?: () => void;
}

/** Polls at an interval, as long as there is somebody to poll for. */
export class FeedPolling {
  readonly #options: FeedOptions;
  readonly #isNeeded: () => boolean;
  readonly #poll: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: FeedOptions, isNeeded: () => boolean, poll: () => Promise<void>) {
    this.#options = options;
    this.#isNeeded = isNeeded;
    this.#poll = poll;
  }

  /** To be called when there is somebody. */
  soon(): void {
    if (this.#timer !== null || this.#isStopped || !this.#isNeeded()) return;
    const { areCommitsHalted, onSuccess, onFailure, pollIntervalMs } = this.#options;
    this.#timer = setTimeout(() => {
      const isHalted = areCommitsHalted?.() === true;
      const polled = isHalted ? Promise.resolve() : this.#poll().then(onSuccess, onFailure);
      void polled.finally(() => {
        this.#timer = null;
        this.soon();
      });
    }, pollIntervalMs);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Polls each of several ledgers' logs. Rejects in the end with the first failure, if there was one. */
export async function pollEach<Item>(
  items: Iterable<Item>,
  poll: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  await forEachLedger(items, poll, (failure) => failures.push(failure));
  if (failures.length > 0) throw failures[0];
}

/** Commits something that writes to the log, on the connection that has read what is to be sent. */
export function commitBarrier(connection: PipelinedConnection, ledgerId: string): Promise<void> {
  return connection.transaction((transaction) => writeBarrier(transaction, ledgerId));
}

/** The same for somebody who waits: rejects with `unavailable` where `what` can't be confirmed. */
export async function confirmRead(
  connection: PipelinedConnection,
  ledgerId: string,
  what: string,
  { areCommitsHalted }: FeedOptions,
): Promise<void> {
  if (areCommitsHalted?.() === true) throw commitsHalted;
  await commitBarrier(connection, ledgerId).catch((cause: unknown) => {
    // Not an outcome that is unknown: nothing was to be written.
    const detail = `${what} could not be confirmed in time; try again in a moment`;
    throw cause instanceof AmbiguousCommit ? new Refusal("unavailable", detail, { cause }) : cause;
  });
}

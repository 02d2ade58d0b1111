// Posting: what wallets accepted becomes entries, a short while later and exactly once. The lock of the
// journal's head lets one poster at a time at a ledger, however many servers run.
import { balanceChanges, type Entry } from "../core/journal.ts";
import { planPostings, postingEntry, totalKey, type Posting } from "../core/posting.ts";
import type { ClosedCalendar } from "../core/period.ts";
import { laterOf } from "../core/time.ts";
import { isNodeLost } from "../store/database/errors.ts";
import { addToBalances } from "../store/account-balances.ts";
import { listRuleVersions } from "../store/asset-rules.ts";
import { insertEntries, insertLines } from "../store/journal-entries.ts";
import { advanceJournalHead, lockJournalHead, readClock } from "../store/journal-heads.ts";
import { lockLedgerStateShared } from "../store/ledger-states.ts";
import { getLedgerIdentity } from "../store/ledgers.ts";
import {
  listLedgersWithPending,
  listPendingPostings,
  listReachedLedgersWithPending,
  markPosted,
} from "../store/pending-postings.ts";
import {
  insertWalletPostings,
  listPostingTotals,
  upsertPostingTotals,
} from "../store/wallet-postings.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { ClosedPeriods } from "./closed-periods.ts";
import { forEachLedger } from "./each-ledger.ts";
import { newId } from "./new-id.ts";
import { repeat } from "./repeat.ts";

/** Of one transaction: what bounds its memory and how long it holds the head's lock. */
const pendingPostingsMax = 500;

export interface PosterOptions {
  readonly intervalMs: number;
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** A round in which nothing failed. */
  readonly onSuccess?: () => void;
}

/** Posts what waits in all ledgers, each interval until it is stopped. */
export class Poster {
  readonly #pool: Pool;
  readonly #options: PosterOptions;
  readonly #closedPeriods = new ClosedPeriods();
  #end: () => Promise<void> = async () => undefined;
  #isStopped = false;
  /** Since the start: entries that were posted, and rounds, or ledgers in one, that failed. */
  readonly counts = { entries: 0, failures: 0 };

  constructor(pool: Pool, options: PosterOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Begins to look every interval for what waits. */
  start(): void {
    if (this.#isStopped) return;
    this.#end = repeat(this.#options.intervalMs, () => this.postAll(), { waitsFirst: true });
  }

  /** Ends the looking, and posts what waits one last time. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
    await this.postAll();
  }

  /** Posts what waits in all ledgers. Failures are reported and tried again the next time. */
  async postAll(): Promise<void> {
    if (this.#options.areCommitsHalted?.() === true) return;
    const failuresBefore = this.counts.failures;
    try {
      const ledgerIds = await this.#listLedgers();
      await forEachLedger(ledgerIds, (ledgerId) => this.postLedger(ledgerId), this.#fail);
    } catch (error) {
      this.#fail(error);
    }
    if (this.counts.failures === failuresBefore) this.#options.onSuccess?.();
  }

  async #listLedgers(): Promise<readonly string[]> {
    try {
      return await listLedgersWithPending(this.#pool);
    } catch (error) {
      if (!isNodeLost(error)) throw error;
      this.#fail(error);
      return listReachedLedgersWithPending(this.#pool);
    }
  }

  readonly #fail = (error: unknown): void => {
    this.counts.failures += 1;
    this.#options.onFailure(error);
  };

  /**
   * Posts what waits in a ledger, a bounded number of batches a transaction. What is accepted meanwhile is
   * left for the next interval: following it would make an entry of every few writes, and never come to the
   * next ledger while this one is busy.
   */
  async postLedger(ledgerId: string): Promise<void> {
    for (;;) {
      const hasMore = await this.#pool.withTransaction(async (transaction) => {
        const status = await lockLedgerStateShared(transaction, ledgerId);
        // What waits in a ledger that is not active waits for it to be (or for a rate).
        if (status !== "active") return false;
        const planned = await planPending(transaction, ledgerId, this.#closedPeriods);
        if (planned === null) return false;
        await transaction.commit(planned.record());
        this.counts.entries += planned.postings.length;
        return planned.hasMore;
      });
      if (!hasMore) return;
    }
  }
}

/**
 * Posts all that waits by now and can be posted, within a transaction that holds the ledger's state; for a
 * close and for a change of state. What is accepted meanwhile is not followed.
 */
export async function postPending(
  transaction: Connection,
  ledgerId: string,
  closedPeriods = new ClosedPeriods(),
): Promise<readonly Posting[]> {
  const all: Posting[] = [];
  for (;;) {
    const planned = await planPending(transaction, ledgerId, closedPeriods);
    if (planned === null) return all;
    await Promise.all(planned.record());
    all.push(...planned.postings);
    if (!planned.hasMore) return all;
  }
}

/** What a close of this moment would post. Nothing is locked: read it, and what is closed, from a snapshot. */
export async function previewPending(
  connection: Connection,
  ledgerId: string,
  closed: ClosedCalendar,
): Promise<readonly Posting[]> {
  const [ledger, pending, rules, totals] = await Promise.all([
    getLedgerIdentity(connection, ledgerId),
    listPendingPostings(connection, ledgerId, Number.MAX_SAFE_INTEGER),
    listRuleVersions(connection, ledgerId),
    listPostingTotals(connection, ledgerId),
  ]);
  return planPostings({ ledger, pending, rules, totals, closed });
}

/** Locks the head and plans; null when nothing can be posted. `hasMore`: more waited than one transaction takes. */
async function planPending(
  transaction: Connection,
  ledgerId: string,
  closedPeriods: ClosedPeriods,
) {
  const [head, now, ledger, pending, rules, totals, closed] = await Promise.all([
    lockJournalHead(transaction, ledgerId),
    readClock(transaction),
    getLedgerIdentity(transaction, ledgerId),
    listPendingPostings(transaction, ledgerId, pendingPostingsMax),
    listRuleVersions(transaction, ledgerId),
    listPostingTotals(transaction, ledgerId),
    closedPeriods.read(transaction, ledgerId),
  ]);
  let postings = planPostings({ ledger, pending, rules, totals, closed });
  let hasMore = pending.length === pendingPostingsMax;
  if (postings.length === 0 && hasMore) {
    // All of them round to nothing; only together with the rest may they come to something.
    const all = await listPendingPostings(transaction, ledgerId, Number.MAX_SAFE_INTEGER);
    postings = planPostings({ ledger, pending: all, rules, totals, closed });
    hasMore = false;
  }
  if (postings.length === 0) return null;
  const persistedAt = laterOf(now, head.lastPersistedAt ?? now);
  const entries = postings.map((posting, index) =>
    postingEntry(posting, ledger, {
      journalId: newId(),
      sequence: head.lastSequence + 1 + index,
      persistedAt,
    }),
  );
  return { postings, hasMore, record: () => record(transaction, ledgerId, postings, entries) };
}

function record(
  transaction: Connection,
  ledgerId: string,
  postings: readonly Posting[],
  entries: readonly Entry[],
): Promise<unknown>[] {
  const last = entries.at(-1);
  if (last === undefined) return [];
  const made = postings.map((posting, index) => ({
    ...posting,
    journalId: entries[index]?.journalId ?? "",
  }));
  const marks = made.flatMap(({ pendingPostingIds, journalId }) =>
    pendingPostingIds.map((pendingPostingId) => ({ pendingPostingId, journalId })),
  );
  // A side can be in several postings of one plan (days); its last total is the one that stands.
  const allTotals = made.flatMap((posting) => posting.totals);
  const totals = new Map(allTotals.map((total) => [totalKey(total), total]));
  return [
    insertEntries(transaction, ledgerId, entries),
    insertLines(transaction, ledgerId, entries),
    addToBalances(transaction, ledgerId, balanceChanges(entries)),
    markPosted(transaction, ledgerId, marks),
    upsertPostingTotals(transaction, ledgerId, [...totals.values()]),
    insertWalletPostings(transaction, ledgerId, made),
    advanceJournalHead(transaction, ledgerId, last),
  ];
}

// Posting and reversing entries: the journal's lane work for group commit, and what callers use.
import { newId } from "./new-id.ts";
import { decideJournalBatch, type Decision, type JournalWrite } from "../core/journal-batch.ts";
import {
  balanceChanges,
  type Entry,
  type EntryDraft,
  type ReversalDraft,
} from "../core/journal.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { addToBalances } from "../store/account-balances.ts";
import { listAccountStates } from "../store/accounts.ts";
import {
  insertEntries,
  insertLines,
  insertReversals,
  listEntriesByExternalId,
  listOriginals,
} from "../store/journal-entries.ts";
import { advanceJournalHead, lockJournalHead, readClock } from "../store/journal-heads.ts";
import {
  lockLedgerStateShared,
  isLedgerStateLockedByOthers,
  writeBarrier,
} from "../store/ledger-states.ts";
import { listWalletPostings } from "../store/wallet-postings.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { ClosedPeriods } from "./closed-periods.ts";
import { GroupCommit } from "./group-commit.ts";
import type { GroupCommitOptions, LaneWork, Outcome, Plan } from "./lane-work.ts";
import { WriteCounts } from "./write-counts.ts";

export interface WriteResult {
  readonly journalId: string;
  readonly persistedAt: Timestamp;
}

/** What each of many entries weighs at least, so that a transaction holds no more than a few thousand. */
const entryBytes = 1024;

interface JournalItem {
  readonly ledger: LedgerIdentity;
  readonly write: JournalWrite;
}

/** What is written to the journals of all ledgers. */
export class Journal {
  /** One for each ledger. A write's reply has a result for each entry that it made. */
  readonly lanes: GroupCommit<JournalItem, readonly WriteResult[]>;
  readonly counts = new WriteCounts<JournalWrite["kind"], JournalItem, readonly WriteResult[]>(
    ["entry", "atomic", "reversal"],
    ({ write }) => write.kind,
  );

  /** `onCommitted` is called with the entries of each batch that was committed, by sequence, before they are answered. */
  constructor(
    pool: Pool,
    options: GroupCommitOptions,
    onCommitted: (ledgerId: string, entries: readonly Entry[]) => void = () => undefined,
  ) {
    const work = journalWork(new ClosedPeriods(), onCommitted);
    this.lanes = new GroupCommit(pool, work, options, this.counts);
  }

  /** Posts an entry. Rejects with the Refusal that comes first in the order of precedence. */
  postEntry(ledger: LedgerIdentity, draft: EntryDraft, bytes: number): Promise<WriteResult> {
    return this.#submitOne({ ledger, write: { kind: "entry", draft } }, bytes);
  }

  /**
   * Posts entries atomically: all of them, with sequences that follow each other, or none. No two may have
   * one externalId. Rejects with the Refusal of the first that fails, with its place (`entries/3`) in
   * each fault; a duplicate among them is reported before anything else.
   */
  postAtomicEntries(
    ledger: LedgerIdentity,
    drafts: readonly EntryDraft[],
    bytes: number,
  ): Promise<readonly WriteResult[]> {
    return this.#submit(
      { ledger, write: { kind: "atomic", drafts } },
      Math.max(bytes, drafts.length * entryBytes),
    );
  }

  /** Posts the reversal of an entry. Rejects with a Refusal as `postEntry` does. */
  reverseEntry(ledger: LedgerIdentity, draft: ReversalDraft, bytes: number): Promise<WriteResult> {
    return this.#submitOne({ ledger, write: { kind: "reversal", draft } }, bytes);
  }

  async #submitOne(item: JournalItem, bytes: number): Promise<WriteResult> {
    const [result] = await this.#submit(item, bytes);
    if (result === undefined) throw new Error("one write makes one entry");
    return result;
  }

  #submit(item: JournalItem, bytes: number): Promise<readonly WriteResult[]> {
    return this.lanes.submit(item.ledger.ledgerId, item, bytes);
  }
}

const journalWork = (
  closedPeriods: ClosedPeriods,
  onCommitted: (ledgerId: string, entries: readonly Entry[]) => void,
): LaneWork<JournalItem, readonly WriteResult[]> => ({
  isLockedByOthers: isLedgerStateLockedByOthers,
  async plan(transaction, ledgerId, items, looksUpKeys) {
    const ledger = items[0]?.ledger;
    if (ledger === undefined) throw new Error("a batch has an item");
    const writes = items.map(({ write }) => write);
    const externalIds = writes.flatMap(externalIdsOf);
    // One round trip: what a decision depends on is read by statements behind those that lock.
    const reversed = originalIds(writes);
    const [status, head, now, accounts, keys, originals, postings, closed] = await Promise.all([
      lockLedgerStateShared(transaction, ledgerId),
      lockJournalHead(transaction, ledgerId),
      readClock(transaction),
      listAccountStates(transaction, ledgerId, accountCodes(writes)),
      listEntriesByExternalId(transaction, ledgerId, looksUpKeys ? externalIds : []),
      listOriginals(transaction, ledgerId, reversed),
      listWalletPostings(transaction, ledgerId, reversed),
      closedPeriods.read(transaction, ledgerId),
    ]);
    const snapshot = {
      ledger,
      status,
      ...head,
      now,
      accounts,
      idempotencyKeys: keys,
      originals,
      walletPostings: new Set(postings),
      closed,
    };
    let decisions = decideJournalBatch(snapshot, writes, newId);
    // A retry of something that was recorded is answered so, never with the refusal it would meet today.
    const refusedIds = looksUpKeys ? [] : refusedExternalIds(writes, decisions);
    if (refusedIds.length > 0) {
      const idempotencyKeys = await listEntriesByExternalId(transaction, ledgerId, refusedIds);
      if (idempotencyKeys.size > 0) {
        decisions = decideJournalBatch({ ...snapshot, idempotencyKeys }, writes, newId);
      }
    }
    return planOf(ledgerId, decisions, onCommitted);
  },
});

function planOf(
  ledgerId: string,
  decisions: readonly Decision[],
  onCommitted: (ledgerId: string, entries: readonly Entry[]) => void,
): Plan<readonly WriteResult[]> {
  const outcomes = decisions.map(outcomeOf);
  const entries = decisions.flatMap((decision) => ("entries" in decision ? decision.entries : []));
  const last = entries.at(-1);
  return {
    outcomes,
    onCommitted: () => {
      onCommitted(ledgerId, entries);
    },
    recording:
      last === undefined
        ? null
        : {
            send: (transaction) => record(transaction, ledgerId, entries, last),
            // The batch's transaction holds the same: whoever gets it sees what became of that.
            lock: (transaction) => lockJournalHead(transaction, ledgerId),
            isCommitted: async (transaction) =>
              (await listOriginals(transaction, ledgerId, [last.journalId])).size > 0,
            writeBarrier: (transaction) => writeBarrier(transaction, ledgerId),
          },
  };
}

function record(
  transaction: Connection,
  ledgerId: string,
  entries: readonly Entry[],
  last: Entry,
): Promise<unknown>[] {
  const hasReversal = entries.some(({ reversesJournalId }) => reversesJournalId !== null);
  return [
    // Lines first: the database inserts them while the entries' leaves are hashed here.
    insertLines(transaction, ledgerId, entries),
    insertEntries(transaction, ledgerId, entries),
    ...(hasReversal ? [insertReversals(transaction, ledgerId, entries)] : []),
    addToBalances(transaction, ledgerId, balanceChanges(entries)),
    advanceJournalHead(transaction, ledgerId, last),
  ];
}

function outcomeOf(decision: Decision): Outcome<readonly WriteResult[]> {
  if ("refusal" in decision) return decision;
  return {
    reply: decision.entries.map(({ journalId, persistedAt }) => ({ journalId, persistedAt })),
  };
}

function draftsOf(write: JournalWrite): readonly EntryDraft[] {
  if (write.kind === "reversal") return [];
  return write.kind === "entry" ? [write.draft] : write.drafts;
}

function externalIdsOf(write: JournalWrite): string[] {
  const drafts = write.kind === "reversal" ? [write.draft] : draftsOf(write);
  return drafts.flatMap(({ externalId }) => externalId ?? []);
}

function accountCodes(writes: readonly JournalWrite[]): string[] {
  const codes = new Set<string>();
  for (const write of writes) {
    for (const { lines } of draftsOf(write)) {
      for (const { glAccountCode } of lines) codes.add(glAccountCode);
    }
  }
  return [...codes];
}

function originalIds(writes: readonly JournalWrite[]): string[] {
  const ids = writes.flatMap((write) =>
    write.kind === "reversal" ? (write.draft.entryId ?? []) : [],
  );
  return [...new Set(ids)];
}

/** ExternalIds of refused items that may be in use without having been looked up yet. */
function refusedExternalIds(
  writes: readonly JournalWrite[],
  decisions: readonly Decision[],
): string[] {
  const ids = writes.flatMap((write, index) => {
    const decision = decisions[index];
    if (decision === undefined || !("refusal" in decision)) return [];
    return decision.refusal.problem === "duplicateEntry" ? [] : externalIdsOf(write);
  });
  return [...new Set(ids)];
}

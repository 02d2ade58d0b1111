// The entry rules that depend on the ledger: decides a batch of journal writes against a snapshot that was read
// under the ledger's lock. Pure: snapshot, clock and new ids are handed in; out come entries or refusals.
import { assert, Refusal, refusalBelow, validationRefusal, type Fault } from "./errors.ts";
import type { Account, LedgerIdentity, LedgerStatus } from "./ledger.ts";
import {
  linesMin,
  reverseLines,
  type Entry,
  type EntryDraft,
  type ReversalDraft,
  type StoredEntry,
} from "./journal.ts";
import type { ClosedCalendar } from "./period.ts";
import { quoted } from "./text.ts";
import { laterOf, type Timestamp } from "./time.ts";

export type JournalWrite =
  | { readonly kind: "entry"; readonly draft: EntryDraft }
  | { readonly kind: "reversal"; readonly draft: ReversalDraft }
  /** Entries of which all are posted or none; no two of them have one externalId. */
  | { readonly kind: "atomic"; readonly drafts: readonly EntryDraft[] };

/** The entry that an externalId belongs to. */
export interface KeyedEntry {
  readonly journalId: string;
  readonly persistedAt: Timestamp;
}

/** What a decision may depend on, read after the ledger's lock was taken. */
export interface JournalSnapshot {
  readonly ledger: LedgerIdentity;
  readonly status: LedgerStatus;
  readonly lastSequence: number;
  /** null before the first entry. */
  readonly lastPersistedAt: Timestamp | null;
  /** The database's clock. */
  readonly now: Timestamp;
  /** Of the accounts that the batch names, those that exist. */
  readonly accounts: ReadonlyMap<string, Pick<Account, "active">>;
  /** Of the externalIds that the batch names, those in use, as far as they were looked up. */
  readonly idempotencyKeys: ReadonlyMap<string, KeyedEntry>;
  /** Of the entries that the batch reverses, those that exist. */
  readonly originals: ReadonlyMap<string, StoredEntry>;
  /** Of those, the ones that post what wallets accepted. */
  readonly walletPostings: ReadonlySet<string>;
  readonly closed: ClosedCalendar;
}

/** What becomes of a write: the entries that it makes, or why it makes none. */
export type Decision = { readonly entries: readonly Entry[] } | { readonly refusal: Refusal };

/** What the items that were accepted so far have changed. */
interface Progress {
  readonly idempotencyKeys: Map<string, KeyedEntry>;
  readonly reversedBy: Map<string, string>;
  sequence: number;
}

/** One decision an item, in order. Each accepted item is seen by those after it. */
export function decideJournalBatch(
  snapshot: JournalSnapshot,
  writes: readonly JournalWrite[],
  newJournalId: () => string,
): Decision[] {
  const progress: Progress = {
    idempotencyKeys: new Map(snapshot.idempotencyKeys),
    reversedBy: new Map(),
    sequence: snapshot.lastSequence,
  };
  const persistedAt = laterOf(snapshot.now, snapshot.lastPersistedAt ?? snapshot.now);
  const decideOne = (write: Exclude<JournalWrite, { kind: "atomic" }>): Decision => {
    const refusal =
      write.kind === "entry"
        ? refuseEntry(snapshot, progress.idempotencyKeys, write.draft, persistedAt)
        : refuseReversal(snapshot, progress, write.draft);
    if (refusal !== null) return { refusal };
    progress.sequence += 1;
    const identity = {
      ledgerId: snapshot.ledger.ledgerId,
      journalId: newJournalId(),
      sequence: progress.sequence,
      persistedAt,
    };
    const entry =
      write.kind === "entry"
        ? entryFromDraft(write.draft, identity)
        : reversalOf(originalOf(snapshot, write.draft), write.draft, identity);
    if (entry.externalId !== null) progress.idempotencyKeys.set(entry.externalId, entry);
    if (entry.reversesJournalId !== null) {
      progress.reversedBy.set(entry.reversesJournalId, entry.journalId);
    }
    return { entries: [entry] };
  };
  return writes.map((write) =>
    write.kind === "atomic"
      ? decideAtomic(progress, write.drafts, (draft) => decideOne({ kind: "entry", draft }))
      : decideOne(write),
  );
}

/** The entries of all drafts, or the refusal of the first that fails, with its place among them. */
function decideAtomic(
  progress: Progress,
  drafts: readonly EntryDraft[],
  decideOne: (draft: EntryDraft) => Decision,
): Decision {
  // If one of them is in, they all are: a retry has to be answered so, whatever would refuse an earlier one today.
  for (const [index, { externalId }] of drafts.entries()) {
    const duplicate = refuseDuplicate(progress.idempotencyKeys, externalId);
    if (duplicate !== null) return { refusal: refusalOfEntry(duplicate, index) };
  }
  const sequenceBefore = progress.sequence;
  const entries: Entry[] = [];
  for (const [index, draft] of drafts.entries()) {
    const decision = decideOne(draft);
    if ("refusal" in decision) {
      progress.sequence = sequenceBefore;
      for (const { externalId } of entries)
        if (externalId !== null) progress.idempotencyKeys.delete(externalId);
      return { refusal: refusalOfEntry(decision.refusal, index) };
    }
    entries.push(...decision.entries);
  }
  return { entries };
}

/** The refusal of one of several entries as that of all of them: with its place, whatever the refusal is. */
function refusalOfEntry(refusal: Refusal, index: number): Refusal {
  const faults =
    refusal.faults.length > 0 ? refusal.faults : [{ path: [], detail: refusal.message }];
  return refusalBelow(["entries", index], refusal, faults);
}

function refuseEntry(
  snapshot: JournalSnapshot,
  idempotencyKeys: ReadonlyMap<string, KeyedEntry>,
  draft: EntryDraft,
  persistedAt: Timestamp,
): Refusal | null {
  const duplicate = refuseDuplicate(idempotencyKeys, draft.externalId);
  if (duplicate !== null) return duplicate;
  const state = refuseState(snapshot.status);
  if (state !== null) return state;
  const faults = draft.lines.flatMap((line, index) => [
    ...accountFaults(snapshot.accounts.get(line.glAccountCode), line.glAccountCode, index),
    ...functionalCurrencyFaults(snapshot.ledger, line.functionalCurrency, index),
  ]);
  if (faults.length > 0) return validationRefusal(faults);
  return refusePeriod(snapshot, draft.transactionDate ?? persistedAt);
}

function refuseReversal(
  snapshot: JournalSnapshot,
  { idempotencyKeys, reversedBy }: Pick<Progress, "idempotencyKeys" | "reversedBy">,
  draft: ReversalDraft,
): Refusal | null {
  const duplicate = refuseDuplicate(idempotencyKeys, draft.externalId);
  if (duplicate !== null) return duplicate;
  const original = findOriginal(snapshot, draft);
  const reversalJournalId =
    original?.reversedByJournalId ?? (original && reversedBy.get(original.journalId));
  if (reversalJournalId !== undefined) {
    return new Refusal("alreadyReversed", "the entry has already been reversed", {
      members: { reversalJournalId },
    });
  }
  const state = refuseState(snapshot.status);
  if (state !== null) return state;
  if (original === undefined) {
    return new Refusal(
      "entryNotFound",
      `the ledger has no entry ${draft.entryId === null ? "with this id" : quoted(draft.entryId)}`,
    );
  }
  if (original.entryType === "REVERSAL") {
    return new Refusal("reversalNotReversible", "a reversal cannot be reversed");
  }
  if (snapshot.walletPostings.has(original.journalId)) {
    return new Refusal(
      "walletBatchNotReversible",
      "the entry posts what wallets accepted; write to the wallets instead",
    );
  }
  return (
    refusePeriod(snapshot, original.transactionDate, ofReversedEntry) ??
    refusePeriod(snapshot, draft.transactionDate ?? original.transactionDate)
  );
}

/** What a refusal says of a date in a closed period, and what can be done instead. */
interface ClosedDateWords {
  readonly what: string;
  readonly remedy: string;
}

const ofNewEntry: ClosedDateWords = {
  what: "the transactionDate is",
  remedy: "date the entry in an open period",
};

const ofReversedEntry: ClosedDateWords = {
  what: "the entry is dated",
  remedy: "post an entry with its amounts negated, of the type ADJUSTING, dated in an open period",
};

function refusePeriod(
  snapshot: JournalSnapshot,
  date: Timestamp,
  { what, remedy }: ClosedDateWords = ofNewEntry,
): Refusal | null {
  const closed = snapshot.closed.covering(date);
  if (closed === null) return null;
  const { periodId, closeId } = closed;
  return new Refusal(
    "periodClosed",
    `${what} ${date}, in the period ${JSON.stringify(periodId)}, which is closed; ${remedy}`,
    { members: { periodId, closeId } },
  );
}

function refuseDuplicate(
  idempotencyKeys: ReadonlyMap<string, KeyedEntry>,
  externalId: string | null,
): Refusal | null {
  const first = externalId === null ? undefined : idempotencyKeys.get(externalId);
  if (first === undefined) return null;
  return new Refusal("duplicateEntry", "this externalId has already been used in this ledger", {
    members: { journalId: first.journalId, persistedAt: first.persistedAt },
  });
}

/** What a ledger that is not active answers to a write. */
export function refuseState(status: LedgerStatus): Refusal | null {
  switch (status) {
    case "active":
      return null;
    case "suspended":
      return new Refusal("ledgerSuspended", "the ledger is suspended and can only be read");
    case "closed":
      return new Refusal("ledgerClosed", "the ledger is permanently closed");
  }
}

function accountFaults(
  account: Pick<Account, "active"> | undefined,
  glAccountCode: string,
  index: number,
): Fault[] {
  const path = ["lines", index, "glAccountCode"];
  if (account === undefined) {
    return [{ path, detail: `the ledger has no account ${JSON.stringify(glAccountCode)}` }];
  }
  return account.active
    ? []
    : [{ path, detail: `the account ${JSON.stringify(glAccountCode)} is inactive` }];
}

/** A line's functional currency has to be the ledger's own. */
export function functionalCurrencyFaults(
  ledger: Pick<LedgerIdentity, "functionalCurrency">,
  functionalCurrency: string,
  index: number,
): Fault[] {
  if (functionalCurrency === ledger.functionalCurrency) return [];
  const detail = `must be the ledger's functional currency, ${ledger.functionalCurrency}`;
  return [{ path: ["lines", index, "functionalCurrency"], detail }];
}

type EntryIdentity = Pick<Entry, "ledgerId" | "journalId" | "sequence" | "persistedAt">;

function entryFromDraft(draft: EntryDraft, identity: EntryIdentity): Entry {
  // Member by member: of an object that two others are spread into, reading a member takes a look-up by name.
  return {
    ledgerId: identity.ledgerId,
    journalId: identity.journalId,
    sequence: identity.sequence,
    persistedAt: identity.persistedAt,
    externalId: draft.externalId,
    originSystem: draft.originSystem,
    originAccount: draft.originAccount,
    eventType: draft.eventType,
    description: draft.description,
    transactionDate: draft.transactionDate ?? identity.persistedAt,
    entryType: draft.entryType,
    postingStatus: "POSTED",
    metadata: draft.metadata,
    reversesJournalId: null,
    lines: draft.lines,
  };
}

function findOriginal(snapshot: JournalSnapshot, draft: ReversalDraft): StoredEntry | undefined {
  return draft.entryId === null ? undefined : snapshot.originals.get(draft.entryId);
}

function originalOf(snapshot: JournalSnapshot, draft: ReversalDraft): StoredEntry {
  const original = findOriginal(snapshot, draft);
  assert(original !== undefined, "a reversal is accepted only of an entry that exists");
  return original;
}

function reversalOf(original: StoredEntry, draft: ReversalDraft, identity: EntryIdentity): Entry {
  // Somebody has changed the database; another entry without lines would make it worse.
  assert(original.lines.length >= linesMin, "an entry has lines");
  return {
    ...identity,
    externalId: draft.externalId,
    originSystem: null,
    originAccount: null,
    eventType: null,
    description: draft.description,
    metadata: draft.metadata,
    transactionDate: draft.transactionDate ?? original.transactionDate,
    entryType: "REVERSAL",
    postingStatus: "POSTED",
    reversesJournalId: original.journalId,
    lines: reverseLines(original.lines),
  };
}

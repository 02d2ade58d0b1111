// Journal entries: their types, and the entry rules that need only the entry itself. Rules that depend on the
// ledger (accounts, duplicates, state, periods) are in journal-batch.ts.
import type { Fault } from "./errors.ts";
import type { Timestamp } from "./time.ts";

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a value that was read from JSON is an object and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a client may say an entry is; only the service makes a REVERSAL. */
export const clientEntryTypes = ["STANDARD", "ADJUSTING", "OPENING", "CLOSING"] as const;
export const entryTypes = [...clientEntryTypes, "REVERSAL"] as const;
export type EntryType = (typeof entryTypes)[number];

export const linesMin = 2;
export const linesMax = 1000;

export interface Line {
  readonly glAccountCode: string;
  readonly description: string | null;
  /** Smallest unit of the transaction currency; negative on the credit side. */
  readonly transactionAmount: bigint;
  readonly transactionCurrency: string;
  /** Smallest unit of the ledger's functional currency; negative on the credit side, never zero. */
  readonly functionalAmount: bigint;
  readonly functionalCurrency: string;
  /** The caller's information; it is not checked against the amounts. */
  readonly spotRate: number | null;
}

/** Labels and texts that an entry carries besides its lines. */
interface EntryLabels {
  readonly externalId: string | null;
  readonly originSystem: string | null;
  readonly originAccount: string | null;
  readonly eventType: string | null;
  readonly description: string | null;
  readonly metadata: JsonObject;
}

/** An entry that was accepted: never changed again. */
export interface Entry extends EntryLabels {
  readonly ledgerId: string;
  readonly journalId: string;
  /** 1, 2, 3 … in its ledger, without gaps, in commit order. */
  readonly sequence: number;
  readonly transactionDate: Timestamp;
  readonly persistedAt: Timestamp;
  readonly entryType: EntryType;
  readonly postingStatus: "POSTED";
  readonly reversesJournalId: string | null;
  readonly lines: readonly Line[];
}

/** An entry as it is read: whether it has been reversed since is the one thing that can change. */
export interface StoredEntry extends Entry {
  readonly reversedByJournalId: string | null;
}

/** An entry that a client asks for, well-formed but not yet checked against the ledger. */
export interface EntryDraft extends EntryLabels {
  readonly entryType: (typeof clientEntryTypes)[number];
  /** null: the moment at which it is persisted. */
  readonly transactionDate: Timestamp | null;
  readonly lines: readonly Line[];
}

/** A reversal that a client asks for. */
export interface ReversalDraft {
  /** The entry to reverse; null where what was named can't be an entry's id. */
  readonly entryId: string | null;
  readonly externalId: string | null;
  readonly description: string | null;
  readonly metadata: JsonObject;
  /** null: the date of the entry that is reversed. */
  readonly transactionDate: Timestamp | null;
}

/** The amounts of a line, as far as they could be read: a member is undefined where it is ill-formed itself. */
export interface LineAmounts {
  readonly transactionAmount: bigint | null | undefined;
  readonly transactionCurrency: string | undefined;
  readonly functionalAmount: bigint | undefined;
  readonly functionalCurrency: string | undefined;
}

/**
 * Everything that is wrong with the amounts of an entry's lines, each with its place under `lines`.
 * Lines that could be read only in part are checked as far as they go; the sum only when all are known.
 */
export function findAmountFaults(lines: readonly LineAmounts[]): Fault[] {
  const faults = lines.flatMap((line, index): Fault[] => {
    const detail = transactionAmountFault(line);
    return detail === null ? [] : [{ path: ["lines", index, "transactionAmount"], detail }];
  });
  let sum: bigint | undefined = 0n;
  for (const line of lines) {
    if (line.functionalAmount === undefined) sum = undefined;
    else if (sum !== undefined) sum += line.functionalAmount;
  }
  if (sum !== undefined && sum !== 0n) {
    faults.push({
      path: ["lines"],
      detail: `the functionalAmounts must sum to zero, but sum to ${sum}`,
    });
  }
  return faults;
}

function transactionAmountFault(line: LineAmounts): string | null {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  if (transactionCurrency === undefined || functionalCurrency === undefined) return null;
  const isOneCurrency = transactionCurrency === functionalCurrency;
  if (transactionAmount === null) {
    const detail = "is required where transactionCurrency differs from functionalCurrency";
    return isOneCurrency ? null : detail;
  }
  if (transactionAmount === undefined || functionalAmount === undefined) return null;
  if (isOneCurrency) {
    const detail = "must equal functionalAmount where both are in the same currency";
    return transactionAmount === functionalAmount ? null : detail;
  }
  // Zero is a pure revaluation: the functional value moves, the foreign amount does not.
  const isSameSide = transactionAmount === 0n || transactionAmount > 0n === functionalAmount > 0n;
  return isSameSide ? null : "must have the same sign as functionalAmount";
}

/** The lines of a reversal: every amount negated, all else kept. */
export function reverseLines(lines: readonly Line[]): Line[] {
  return lines.map((line) => ({
    ...line,
    transactionAmount: -line.transactionAmount,
    functionalAmount: -line.functionalAmount,
  }));
}

/** What a batch of entries adds to one balance of one account. */
export interface BalanceChange {
  readonly glAccountCode: string;
  /** A transaction currency, or null for the account's whole in functional currency. */
  readonly currency: string | null;
  amount: bigint;
  /** Entries with at least one such line, not lines. */
  entryCount: number;
}

/** Sums entries into one change per balance, in an order that is the same everywhere (locks are taken in it). */
export function balanceChanges(entries: readonly Entry[]): BalanceChange[] {
  const changes = new Map<string, BalanceChange & { lastEntry: Entry | null }>();
  const add = (entry: Entry, glAccountCode: string, currency: string | null, amount: bigint) => {
    // NUL can't be part of a code, so it keeps the two parts of the key apart.
    const key = `${glAccountCode}\0${currency ?? ""}`;
    let change = changes.get(key);
    if (change === undefined) {
      change = { glAccountCode, currency, amount: 0n, entryCount: 0, lastEntry: null };
      changes.set(key, change);
    }
    change.amount += amount;
    if (change.lastEntry !== entry) {
      change.entryCount += 1;
      change.lastEntry = entry;
    }
  };
  for (const entry of entries) {
    for (const line of entry.lines) {
      add(entry, line.glAccountCode, null, line.functionalAmount);
      add(entry, line.glAccountCode, line.transactionCurrency, line.transactionAmount);
    }
  }
  return [...changes]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, change]) => {
      const { glAccountCode, currency, amount, entryCount } = change;
      return { glAccountCode, currency, amount, entryCount };
    });
}

// The objects that travel, as plain types. The client's users see these.
import type { AccountType, LedgerStatus } from "../core/ledger.ts";
import type { EntryType, JsonObject } from "../core/journal.ts";
import type { WalletWriteType } from "../core/wallet.ts";

export interface WireLedger {
  readonly id: string;
  readonly name: string;
  readonly status: LedgerStatus;
  readonly createdAt: string;
  readonly metadata: JsonObject;
  readonly functionalCurrency: string;
}

export interface WireAccount {
  readonly glAccountCode: string;
  readonly name: string;
  readonly active: boolean;
  readonly type: AccountType | null;
}

export interface WireBalance {
  readonly glAccountCode: string;
  /** A JSON number on the wire, with all its digits; smallest units, debits positive. */
  readonly balance: bigint;
  readonly currency: string;
  readonly entryCount: number;
}

export interface WireLine {
  readonly glAccountCode: string;
  readonly description: string | null;
  readonly transactionAmount: string;
  readonly transactionCurrency: string;
  readonly functionalAmount: string;
  readonly functionalCurrency: string;
  readonly spotRate: number | null;
}

export interface WireEntry {
  readonly journalId: string;
  readonly ledgerId: string;
  readonly sequence: number;
  readonly externalId: string | null;
  readonly originSystem: string | null;
  readonly originAccount: string | null;
  readonly eventType: string | null;
  readonly description: string | null;
  readonly transactionDate: string;
  readonly entryType: EntryType;
  readonly postingStatus: "POSTED";
  readonly metadata: JsonObject;
  readonly persistedAt: string;
  readonly reversesJournalId: string | null;
  readonly reversedByJournalId: string | null;
  readonly lines: readonly WireLine[];
}

export interface WireEntryPage {
  readonly entries: readonly WireEntry[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface WireWriteResult {
  readonly journalId: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly persistedAt: string;
}

export interface WireLineInput {
  readonly glAccountCode: string;
  readonly functionalAmount: string;
  readonly functionalCurrency?: string | null;
  readonly transactionAmount?: string | null;
  readonly transactionCurrency?: string | null;
  readonly spotRate?: number | null;
  readonly description?: string | null;
}

export interface WireEntryInput {
  readonly lines: readonly WireLineInput[];
  readonly externalId?: string | null;
  readonly originSystem?: string | null;
  readonly originAccount?: string | null;
  readonly eventType?: string | null;
  readonly description?: string | null;
  readonly transactionDate?: string | null;
  readonly entryType?: string | null;
  readonly postingStatus?: string | null;
  readonly metadata?: JsonObject | null;
}

export interface WireReversalInput {
  readonly externalId?: string | null;
  readonly description?: string | null;
  readonly reason?: string | null;
  readonly transactionDate?: string | null;
  readonly metadata?: JsonObject | null;
}

/** A close. Hashes are 64 lower-case hex digits. */
export interface WireClose {
  readonly ledgerId: string;
  readonly closeId: string;
  /** 1, 2, 3 … in its ledger. */
  readonly number: number;
  readonly periodId: string;
  readonly reason: string | null;
  /** null: from the beginning of the books. */
  readonly startsAt: string | null;
  /** Exclusive. */
  readonly endsAt: string;
  readonly closedAt: string;
  readonly lastSequence: number;
  readonly entryCount: number;
  readonly merkleRoot: string;
  readonly merkleAlgorithm: string;
  readonly balancesRoot: string;
  readonly previousCloseHash: string | null;
  readonly closeHash: string;
}

export interface WireClosePage {
  readonly closes: readonly WireClose[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** A line of a closing trial balance: integer strings in the smallest unit of the functional currency. */
export interface WireBalanceRow {
  readonly glAccountCode: string;
  readonly opening: string;
  readonly debits: string;
  readonly credits: string;
  readonly closing: string;
  readonly entryCount: number;
}

export interface WireCloseWithBalances extends WireClose {
  readonly balances: readonly WireBalanceRow[];
}

/** The columns of a trial balance, summed: integer strings in the smallest unit of the functional currency. */
export interface WireBalanceTotals {
  readonly opening: string;
  readonly debits: string;
  readonly credits: string;
  readonly closing: string;
}

/** A line of a trial balance of the live books. */
export interface WireTrialBalanceRow extends WireBalanceTotals {
  readonly glAccountCode: string;
  readonly name: string;
  readonly type: AccountType | null;
}

/** An account whose figures are not those that a close stored. */
export interface WireMovedBalance {
  readonly glAccountCode: string;
  readonly stored: Omit<WireBalanceRow, "glAccountCode">;
  readonly live: Omit<WireBalanceRow, "glAccountCode">;
}

export interface WireBalances {
  readonly ledgerId: string;
  readonly functionalCurrency: string;
  /** null: from the beginning of the books. */
  readonly startsAt: string | null;
  /** Exclusive. */
  readonly endsAt: string;
  /** The sequence up to which entries were read. */
  readonly lastSequence: number;
  /** Accounts with an entry dated before the end, by the UTF-8 bytes of their codes. */
  readonly accounts: readonly WireTrialBalanceRow[];
  readonly totals: WireBalanceTotals;
  readonly balanced: boolean;
}

export interface WireTrialBalance extends WireBalances {
  /** As it was asked for. */
  readonly periodId: string | null;
  /** The period's close. */
  readonly close: WireClose | null;
  /** Accounts whose figures are no longer those of the close. */
  readonly moved: readonly WireMovedBalance[];
}

/** What a close would do if it were made now; all figures include the postings that it would make. */
export interface WireClosePreview extends WireBalances {
  readonly periodId: string;
  readonly previewedAt: string;
  /** The close that the period has already, which closing again would give, and do nothing. */
  readonly close: WireClose | null;
  /** The label is no date: everything up to the moment of the close would be closed. */
  readonly closesToDate: boolean;
  readonly endsInFuture: boolean;
  readonly entryCount: number;
  readonly pendingPostings: readonly {
    readonly assetCode: string;
    readonly transactionDate: string;
    readonly isInPeriod: boolean;
    /** The sum of its debits, in functional currency. */
    readonly amount: string;
    /** Wallet writes in it, and wallets that they are of. */
    readonly writes: number;
    readonly wallets: number;
  }[];
  readonly assetsWithoutRate: readonly string[];
  /** Entries dated before the period and in no closed one, by months in UTC. */
  readonly earlierOpen: readonly { readonly periodId: string; readonly entryCount: number }[];
  /** Closes whose figures are no longer those of the books: the last one, and the one before the period. */
  readonly moved: readonly {
    readonly periodId: string;
    readonly closeId: string;
    readonly number: number;
    readonly closedAt: string;
    readonly accounts: readonly WireMovedBalance[];
  }[];
}

/** What of an entry is hashed: all but whether it has been reversed since. */
export type WireEntryDocument = Omit<WireEntry, "reversedByJournalId">;

export interface WireProof {
  readonly format: "ledgerctl-proof-v1";
  readonly leafIndex: number;
  readonly treeSize: number;
  /** From the leaf's neighbour upwards. */
  readonly auditPath: readonly string[];
  readonly entry: WireEntryDocument;
  readonly close: WireClose;
}

export interface WireCloseInput {
  readonly periodId: string;
  readonly reason?: string | null;
  readonly startsAt?: string | null;
  readonly endsAt?: string | null;
}

/** Amounts are integer strings in smallest units. */
export interface WireWalletBalance {
  readonly balance: string;
  /** balance minus active holds. */
  readonly available: string;
}

export interface WireWalletResult extends WireWalletBalance {
  readonly status: "accepted" | "duplicate";
}

export interface WireReserveResult extends WireWalletResult {
  /** null only for a duplicate of a credit or debit, which made none. */
  readonly holdId: string | null;
}

export interface WireWalletWrite {
  /** 1, 2, 3 … in its wallet, without gaps. */
  readonly seq: number;
  readonly type: WalletWriteType;
  readonly amount: string;
  /** After the write. */
  readonly balance: string;
  readonly held: string;
  readonly externalId: string | null;
  readonly holdId: string | null;
  readonly metadata: string | null;
  readonly at: string;
  /** The entry that it was posted with; null until then, and for what moves no balance. */
  readonly journalId: string | null;
}

export interface WireWalletHistory {
  readonly writes: readonly WireWalletWrite[];
  readonly hasMore: boolean;
}

export interface WirePostedWrites {
  readonly writes: readonly (WireWalletWrite & { readonly callerKey: string })[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface WireMovementInput {
  readonly amount: string;
  readonly assetCode: string;
  readonly externalId?: string | null;
  readonly metadata?: string | null;
}

export interface WireReserveInput extends WireMovementInput {
  readonly expiresInSeconds?: number | null;
}

export interface WireBulkMovementInput extends WireMovementInput {
  readonly callerKey: string;
  readonly type: "credit" | "debit";
}

export interface WireBulkResult {
  readonly results: readonly (
    WireWalletResult | { readonly status: number; readonly error: string }
  )[];
}

/** What a wallet's stream sends; `seq` only on a stream that was opened with `since`. */
export interface WireBalanceMessage extends WireWalletBalance {
  readonly type: "balance";
  readonly seq?: number;
}

/** What each route answers, by the route's name. */
export interface WireReplies {
  readonly listLedgers: { readonly ledgers: readonly WireLedger[] };
  readonly getLedger: WireLedger;
  readonly listAccounts: { readonly accounts: readonly WireAccount[] };
  readonly getBalance: WireBalance;
  readonly getTrialBalance: WireTrialBalance;
  readonly postEntry: WireWriteResult;
  readonly listEntries: WireEntryPage;
  readonly getEntry: WireEntry;
  readonly reverseEntry: WireWriteResult;
  readonly listPostedWrites: WirePostedWrites;
  readonly closePeriod: WireClose;
  readonly listCloses: WireClosePage;
  readonly previewClose: WireClosePreview;
  readonly getClose: WireCloseWithBalances;
  readonly getProof: WireProof;
  /** NDJSON, streamed. */
  readonly getBundle: AsyncIterable<string>;
  readonly creditWallet: WireWalletResult;
  readonly debitWallet: WireWalletResult;
  readonly getWalletBalance: WireWalletBalance;
  readonly listWalletWrites: WireWalletHistory;
  readonly streamWallet: WireBalanceMessage;
  readonly reserveFunds: WireReserveResult;
  readonly commitHold: WireWalletResult;
  readonly releaseHold: WireWalletResult;
  readonly writeWallets: WireBulkResult;
}

/** A problem detail (RFC 9457) as the service answers it. */
export interface WireProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code?: string;
  readonly errors?: readonly {
    readonly detail: string;
    readonly pointer?: string;
    readonly parameter?: string;
  }[];
  /** DUPLICATE_ENTRY: the entry that came first. */
  readonly journalId?: string;
  readonly persistedAt?: string;
  /** PERIOD_CLOSED: the close that covers the date. */
  readonly periodId?: string;
  readonly closeId?: string;
  /** ALREADY_REVERSED: the reversal that came first. */
  readonly reversalJournalId?: string;
}

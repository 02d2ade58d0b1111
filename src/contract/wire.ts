// The objects that travel, as plain types. The client's users see these.
import type { AccountType, LedgerStatus } from "../core/ledger.ts";
import type { EntryType, JsonObject } from "../core/journal.ts";
import type { WalletWriteType } from "../core/wallet.ts";

export interface Ledger {
  readonly id: string;
  readonly name: string;
  readonly status: LedgerStatus;
  readonly createdAt: string;
  readonly metadata: JsonObject;
  readonly functionalCurrency: string;
}

export interface Account {
  readonly glAccountCode: string;
  readonly name: string;
  readonly active: boolean;
  readonly type: AccountType | null;
}

export interface AccountBalance {
  readonly glAccountCode: string;
  /** A JSON number on the wire, with all its digits; smallest units, debits positive. */
  readonly balance: bigint;
  readonly currency: string;
  readonly entryCount: number;
}

export interface EntryLine {
  readonly glAccountCode: string;
  readonly description: string | null;
  readonly transactionAmount: string;
  readonly transactionCurrency: string;
  readonly functionalAmount: string;
  readonly functionalCurrency: string;
  readonly spotRate: number | null;
}

export interface Entry {
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
  readonly lines: readonly EntryLine[];
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface EntryReceipt {
  readonly journalId: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly persistedAt: string;
}

export interface EntryLineInput {
  readonly glAccountCode: string;
  readonly functionalAmount: string;
  readonly functionalCurrency?: string | null;
  readonly transactionAmount?: string | null;
  readonly transactionCurrency?: string | null;
  readonly spotRate?: number | null;
  readonly description?: string | null;
}

export interface EntryInput {
  readonly lines: readonly EntryLineInput[];
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

/** What became of one of many entries: it got in (201), or why it did not. */
export type EntryOutcome = (EntryReceipt & { readonly status: 201 }) | Problem;

/** One outcome for each entry, in order; of entries that got in together, what each would have been told. */
export interface EntryOutcomes {
  readonly results: readonly EntryOutcome[] | readonly EntryReceipt[];
}

export interface ReversalInput {
  readonly externalId?: string | null;
  readonly description?: string | null;
  readonly reason?: string | null;
  readonly transactionDate?: string | null;
  readonly metadata?: JsonObject | null;
}

/** A close. Hashes are 64 lower-case hex digits. */
export interface Close {
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

export interface ClosePage {
  readonly closes: readonly Close[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** A line of a closing trial balance: integer strings in the smallest unit of the functional currency. */
export interface CloseBalance {
  readonly glAccountCode: string;
  readonly opening: string;
  readonly debits: string;
  readonly credits: string;
  readonly closing: string;
  readonly entryCount: number;
}

export interface CloseWithBalances extends Close {
  readonly balances: readonly CloseBalance[];
}

/** The columns of a trial balance, summed: integer strings in the smallest unit of the functional currency. */
export interface TrialBalanceTotals {
  readonly opening: string;
  readonly debits: string;
  readonly credits: string;
  readonly closing: string;
}

/** A line of a trial balance of the live books. */
export interface TrialBalanceRow extends TrialBalanceTotals {
  readonly glAccountCode: string;
  readonly name: string;
  readonly type: AccountType | null;
}

/** An account whose figures are not those that a close stored. */
export interface MovedAccount {
  readonly glAccountCode: string;
  readonly stored: Omit<CloseBalance, "glAccountCode">;
  readonly live: Omit<CloseBalance, "glAccountCode">;
}

export interface TrialBalanceFigures {
  readonly ledgerId: string;
  readonly functionalCurrency: string;
  /** null: from the beginning of the books. */
  readonly startsAt: string | null;
  /** Exclusive. */
  readonly endsAt: string;
  /** The sequence up to which entries were read. */
  readonly lastSequence: number;
  /** Accounts with an entry dated before the end, by the UTF-8 bytes of their codes. */
  readonly accounts: readonly TrialBalanceRow[];
  readonly totals: TrialBalanceTotals;
  readonly balanced: boolean;
}

export interface TrialBalance extends TrialBalanceFigures {
  /** As it was asked for. */
  readonly periodId: string | null;
  /** The period's close. */
  readonly close: Close | null;
  /** Accounts whose figures are no longer those of the close. */
  readonly moved: readonly MovedAccount[];
}

/** What a close would do if it were made now; all figures include the postings that it would make. */
export interface ClosePreview extends TrialBalanceFigures {
  readonly periodId: string;
  readonly previewedAt: string;
  /** The close that the period has already, which closing again would give, and do nothing. */
  readonly close: Close | null;
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
    readonly accounts: readonly MovedAccount[];
  }[];
}

/** What of an entry is hashed: all but whether it has been reversed since. */
export type EntryDocument = Omit<Entry, "reversedByJournalId">;

export interface Proof {
  readonly format: "ledgerctl-proof-v1";
  readonly leafIndex: number;
  readonly treeSize: number;
  /** From the leaf's neighbour upwards. */
  readonly auditPath: readonly string[];
  readonly entry: EntryDocument;
  readonly close: Close;
}

export interface CloseInput {
  readonly periodId: string;
  readonly reason?: string | null;
  readonly startsAt?: string | null;
  readonly endsAt?: string | null;
}

/** Amounts are integer strings in smallest units. */
export interface WalletBalance {
  readonly balance: string;
  /** balance minus active holds. */
  readonly available: string;
}

export interface WalletResult extends WalletBalance {
  readonly status: "accepted" | "duplicate";
}

export interface Reservation extends WalletResult {
  /** null only for a duplicate of a credit or debit, which made none. */
  readonly holdId: string | null;
}

export interface WalletLogEntry {
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

export interface WalletLogPage {
  readonly writes: readonly WalletLogEntry[];
  readonly hasMore: boolean;
}

export interface PostedWritePage {
  readonly writes: readonly (WalletLogEntry & { readonly callerKey: string })[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface MovementInput {
  readonly amount: string;
  readonly assetCode: string;
  readonly externalId?: string | null;
  readonly metadata?: string | null;
}

export interface ReserveInput extends MovementInput {
  readonly expiresInSeconds?: number | null;
}

export interface BulkMovementInput extends MovementInput {
  readonly callerKey: string;
  readonly type: "credit" | "debit";
}

export interface BulkResult {
  readonly results: readonly (WalletResult | { readonly status: number; readonly error: string })[];
}

/** What a wallet's stream sends; `seq` only on a stream that was opened with `since`. */
export interface BalanceMessage extends WalletBalance {
  readonly type: "balance";
  readonly seq?: number;
}

/** What each route answers, by the route's name. */
export interface RouteReplies {
  readonly listLedgers: { readonly ledgers: readonly Ledger[] };
  readonly getLedger: Ledger;
  readonly listAccounts: { readonly accounts: readonly Account[] };
  readonly getBalance: AccountBalance;
  readonly getTrialBalance: TrialBalance;
  readonly postEntry: EntryReceipt;
  readonly postEntries: EntryOutcomes;
  readonly listEntries: EntryPage;
  readonly getEntry: Entry;
  readonly reverseEntry: EntryReceipt;
  readonly listPostedWrites: PostedWritePage;
  readonly closePeriod: Close;
  readonly listCloses: ClosePage;
  readonly previewClose: ClosePreview;
  readonly getClose: CloseWithBalances;
  readonly getProof: Proof;
  /** NDJSON, streamed. */
  readonly getBundle: AsyncIterable<string>;
  readonly creditWallet: WalletResult;
  readonly debitWallet: WalletResult;
  readonly getWalletBalance: WalletBalance;
  readonly listWalletWrites: WalletLogPage;
  readonly streamWallet: BalanceMessage;
  readonly reserveFunds: Reservation;
  readonly commitHold: WalletResult;
  readonly releaseHold: WalletResult;
  readonly writeWallets: BulkResult;
}

/** A problem detail (RFC 9457) as the service answers it. */
export interface Problem {
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

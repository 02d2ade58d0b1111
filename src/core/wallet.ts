// Wallets: their types, and their figures at a moment. The rules by which they change are in wallet-write.ts and wallet-transfer.ts.
import { laterOf, type Timestamp } from "./time.ts";

export type MovementType = "credit" | "debit";
export const walletWriteTypes = [
  "credit",
  "debit",
  "reserve",
  "commit",
  "release",
  "expire",
  "transfer-out",
  "transfer-in",
  "freeze",
  "unfreeze",
] as const;
export type WalletWriteType = (typeof walletWriteTypes)[number];

interface Addressed {
  readonly callerKey: string;
}

interface Keyed extends Addressed {
  /** Smallest unit, above zero. */
  readonly amount: bigint;
  readonly assetCode: string;
  readonly externalId: string | null;
  /** Any text, kept for audit and not read. */
  readonly metadata: string | null;
}

export type WalletWrite =
  | (Keyed & { readonly type: MovementType })
  | (Keyed & { readonly type: "reserve"; readonly expiresInSeconds: number | null })
  | (Addressed & {
      readonly type: "commit";
      /** null where what was named can't be a hold's id. */
      readonly holdId: string | null;
      /** null: all of it. */
      readonly amount: bigint | null;
    })
  | (Addressed & { readonly type: "release"; readonly holdId: string | null })
  | (Addressed & { readonly type: "freeze" | "unfreeze" });

export interface Hold {
  readonly holdId: string;
  readonly walletId: string;
  readonly amount: bigint;
  readonly expiresAt: Timestamp | null;
  readonly status: (typeof holdStatuses)[number];
}

export const holdStatuses = ["active", "committed", "released", "expired", "transferred"] as const;

/** SHA-256 in 64 lower-case hex digits: as text it is hashed and handed on for half of what bytes cost. */
export type ChainHash = string;

export interface Wallet {
  readonly walletId: string;
  readonly callerKey: string;
  readonly assetCode: string;
  readonly balance: bigint;
  readonly held: bigint;
  readonly lastSeq: number;
  readonly lastAt: Timestamp;
  /** Of the chain of its log; null for a log without one. Whoever accepts a change chains what it appended. */
  logHash: ChainHash | null;
  /** Since when nothing may be taken out; null where it is not frozen. */
  readonly frozenAt: Timestamp | null;
  /**
   * The UTC day (`YYYY-MM-DD`) of `debited`: what was taken out on it. Kept only while its asset has a limit for the day;
   * null: the log has to be asked.
   */
  readonly debitedOn: string | null;
  readonly debited: bigint | null;
}

/** An entry of a wallet's log: one accepted change, with the figures after it. */
export interface WalletLogEntry {
  readonly callerKey: string;
  readonly walletId: string;
  readonly seq: number;
  readonly type: WalletWriteType;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly held: bigint;
  readonly externalId: string | null;
  readonly holdId: string | null;
  readonly metadata: string | null;
  readonly at: Timestamp;
  /** Of a transfer; both of its rows have it. */
  readonly transferId: string | null;
  /** Of a transfer: the callerKey of the other wallet. */
  readonly counterparty: string | null;
  /** Of the pending posting that its amount is part of, once it is accepted; null where it moves no money. */
  pendingPostingId: string | null;
}

export interface WalletReply {
  readonly status: "accepted" | "duplicate";
  readonly balance: bigint;
  readonly available: bigint;
  /** Of a reservation. */
  readonly holdId: string | null;
}

/** A wallet while a batch is decided, with its active holds. */
export interface WalletState {
  readonly wallet: Wallet;
  /** Including expired holds whose expiry is not in the log yet. */
  readonly activeHolds: ReadonlyMap<string, Hold>;
}

/** What one write does. */
export interface WalletChange {
  readonly state: WalletState;
  /** Expiries that had to be logged first, then the write where it is accepted. */
  readonly entries: readonly WalletLogEntry[];
  /** Holds that are new or changed. */
  readonly holds: readonly Hold[];
}

/** The holds that have expired at a moment and are still listed as active. */
export function expiredHolds(state: WalletState, now: Timestamp): Hold[] {
  if (state.activeHolds.size === 0) return [];
  const at = laterOf(now, state.wallet.lastAt);
  return [...state.activeHolds.values()].filter(
    ({ expiresAt }) => expiresAt !== null && expiresAt <= at,
  );
}

/** The balance minus the holds that have not expired. */
export function availableOf(state: WalletState, now: Timestamp): bigint {
  const expired = expiredHolds(state, now).reduce((sum, { amount }) => sum + amount, 0n);
  return state.wallet.balance - state.wallet.held + expired;
}

/** The reply to a duplicate: the current figures. */
export function duplicateReply(
  state: WalletState,
  now: Timestamp,
  holdId: string | null,
): WalletReply {
  const available = availableOf(state, now);
  return { status: "duplicate", balance: state.wallet.balance, available, holdId };
}

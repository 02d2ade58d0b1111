// Wallets: their types, and the rules by which one write changes one. Pure; time and ids are handed in.
import { Refusal, validationRefusal } from "./errors.ts";
import { quoted } from "./text.ts";
import { addMs, laterOf, type Timestamp } from "./time.ts";

export type MovementType = "credit" | "debit";
export const walletWriteTypes = [
  "credit",
  "debit",
  "reserve",
  "commit",
  "release",
  "expire",
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
  | (Addressed & { readonly type: "release"; readonly holdId: string | null });

export interface Hold {
  readonly holdId: string;
  readonly walletId: string;
  readonly amount: bigint;
  readonly expiresAt: Timestamp | null;
  readonly status: "active" | "committed" | "released" | "expired";
}

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

export type WalletDecision =
  | (WalletChange & { readonly reply: WalletReply })
  /** `expiries`: logged although it is refused, so that a hold that was called expired is never active again. */
  | { readonly refusal: Refusal; readonly expiries: WalletChange | null };

interface DecisionContext {
  readonly now: Timestamp;
  readonly overdraftLimit: bigint;
  /** The hold that a commit or release names, whatever its status; undefined when there is none. */
  readonly namedHold: Hold | undefined;
  readonly newHoldId: () => string;
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

/** The wallet rules: decides one write that is no duplicate, on an active ledger. */
export function decideWalletWrite(
  state: WalletState,
  write: WalletWrite,
  context: DecisionContext,
): WalletDecision {
  const current = withExpiriesLogged(state, context.now);
  if (write.type === "commit" || write.type === "release") {
    return resolveHold(current, write, context.namedHold);
  }
  const refusal =
    refuseAsset(state, write) ??
    (write.type === "credit" ? null : refuseOverdraft(current, write, context));
  if (refusal !== null) return refusal;
  if (write.type === "reserve") return reserve(current, write, context);
  const balance = write.type === "credit" ? write.amount : -write.amount;
  return done(appendEntry(current, write, 0n, balance), null);
}

/** A state with what was appended to its log on the way to it. */
interface LoggedState {
  readonly state: WalletState;
  readonly entries: readonly WalletLogEntry[];
  readonly holds: readonly Hold[];
  readonly at: Timestamp;
}

function withExpiriesLogged(state: WalletState, now: Timestamp): LoggedState {
  // The moment of a write: the database's clock, but never before the wallet's last.
  const at = laterOf(now, state.wallet.lastAt);
  let logged: LoggedState = { state, entries: [], holds: [], at };
  for (const hold of expiredHolds(state, now)) {
    logged = appendEntry(
      logged,
      { type: "expire", amount: hold.amount, holdId: hold.holdId },
      -hold.amount,
    );
    logged = withHold(logged, { ...hold, status: "expired" });
  }
  return logged;
}

/** Appends an entry to the log. */
function appendEntry(
  logged: LoggedState,
  entry: { type: WalletWriteType; amount: bigint; holdId?: string | null } & Partial<
    Pick<WalletLogEntry, "externalId" | "metadata">
  >,
  held: bigint,
  balance = 0n,
): LoggedState {
  const { wallet } = logged.state;
  // Member by member: copies by spread cost more than the rest of a decision, for every write.
  const next: Wallet = {
    walletId: wallet.walletId,
    callerKey: wallet.callerKey,
    assetCode: wallet.assetCode,
    balance: wallet.balance + balance,
    held: wallet.held + held,
    lastSeq: wallet.lastSeq + 1,
    lastAt: logged.at,
    logHash: wallet.logHash,
  };
  const written: WalletLogEntry = {
    callerKey: wallet.callerKey,
    walletId: wallet.walletId,
    seq: next.lastSeq,
    type: entry.type,
    amount: entry.amount,
    balance: next.balance,
    held: next.held,
    externalId: entry.externalId ?? null,
    holdId: entry.holdId ?? null,
    metadata: entry.metadata ?? null,
    at: logged.at,
    pendingPostingId: null,
  };
  return {
    state: { wallet: next, activeHolds: logged.state.activeHolds },
    entries: [...logged.entries, written],
    holds: logged.holds,
    at: logged.at,
  };
}

function withHold(logged: LoggedState, hold: Hold): LoggedState {
  const activeHolds = new Map(logged.state.activeHolds);
  if (hold.status === "active") activeHolds.set(hold.holdId, hold);
  else activeHolds.delete(hold.holdId);
  return {
    ...logged,
    state: { ...logged.state, activeHolds },
    holds: [...logged.holds, hold],
  };
}

function done(logged: LoggedState, holdId: string | null): WalletDecision {
  const { state, entries, holds } = logged;
  const { balance, held } = state.wallet;
  return {
    state,
    entries,
    holds,
    reply: { status: "accepted", balance, available: balance - held, holdId },
  };
}

function reserve(
  logged: LoggedState,
  write: WalletWrite & { type: "reserve" },
  context: DecisionContext,
): WalletDecision {
  const holdId = context.newHoldId();
  const { expiresInSeconds } = write;
  const expiresAt = expiresInSeconds === null ? null : addMs(logged.at, expiresInSeconds * 1000);
  const { walletId } = logged.state.wallet;
  const hold: Hold = { holdId, walletId, amount: write.amount, expiresAt, status: "active" };
  return done(withHold(appendEntry(logged, { ...write, holdId }, write.amount), hold), holdId);
}

function resolveHold(
  logged: LoggedState,
  write: WalletWrite & { type: "commit" | "release" },
  named: Hold | undefined,
): WalletDecision {
  const expired = logged.holds.find(({ holdId }) => holdId === write.holdId);
  const hold = expired ?? named;
  if (hold?.walletId !== logged.state.wallet.walletId) {
    const id = write.holdId === null ? "with this id" : quoted(write.holdId);
    return refused(new Refusal("holdNotFound", `the wallet has no hold ${id}`));
  }
  if (hold.status !== "active") {
    const refusal = new Refusal("holdResolved", `the hold has been ${hold.status} already`);
    return { refusal, expiries: expired === undefined ? null : logged };
  }
  if (write.type === "release") {
    const entry = { type: "release", amount: hold.amount, holdId: hold.holdId } as const;
    return done(
      withHold(appendEntry(logged, entry, -hold.amount), { ...hold, status: "released" }),
      null,
    );
  }
  const amount = write.amount ?? hold.amount;
  if (amount > hold.amount) {
    return refused(
      validationRefusal([{ path: ["amount"], detail: "must not be more than is held" }]),
    );
  }
  const entry = { type: "commit", amount, holdId: hold.holdId } as const;
  const committed = appendEntry(logged, entry, -hold.amount, -amount);
  return done(withHold(committed, { ...hold, status: "committed" }), null);
}

function refuseAsset(state: WalletState, write: { assetCode: string }): WalletDecision | null {
  if (state.wallet.assetCode === write.assetCode) return null;
  const detail = `must be ${state.wallet.assetCode}, the asset of the wallet`;
  return refused(validationRefusal([{ path: ["assetCode"], detail }]));
}

function refuseOverdraft(
  logged: LoggedState,
  write: { amount: bigint },
  { overdraftLimit }: DecisionContext,
): WalletDecision | null {
  const { balance, held } = logged.state.wallet;
  if (balance - held - write.amount >= -overdraftLimit) return null;
  return refused(new Refusal("insufficientFunds", "the amount is more than is available"));
}

function refused(refusal: Refusal): WalletDecision {
  return { refusal, expiries: null };
}

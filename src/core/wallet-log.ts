// Appending to the log of a wallet: what every change of one is made of. Which changes are accepted is decided elsewhere.
import { laterOf, type Timestamp } from "./time.ts";
import {
  expiredHolds,
  type Hold,
  type Wallet,
  type WalletLogEntry,
  type WalletState,
} from "./wallet.ts";

/** A state with what was appended to its log on the way to it. */
export interface LoggedState {
  readonly state: WalletState;
  readonly entries: readonly WalletLogEntry[];
  readonly holds: readonly Hold[];
  readonly at: Timestamp;
}

/** A state with the expiries of its holds logged, as the next write of its wallet has to find them. */
export function withExpiriesLogged(state: WalletState, now: Timestamp): LoggedState {
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

/** What of an entry its write says; null where it says nothing. */
type NewEntry = Pick<WalletLogEntry, "type" | "amount"> &
  Partial<
    Pick<WalletLogEntry, "externalId" | "holdId" | "metadata" | "transferId" | "counterparty">
  >;

/** Appends an entry to the log. `held` and `balance`: what it adds to them. */
export function appendEntry(
  logged: LoggedState,
  entry: NewEntry,
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
    frozenAt: frozenAfter(wallet, entry.type, logged.at),
    debitedOn: wallet.debitedOn,
    debited: wallet.debited,
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
    transferId: entry.transferId ?? null,
    counterparty: entry.counterparty ?? null,
    pendingPostingId: null,
  };
  return {
    state: { wallet: next, activeHolds: logged.state.activeHolds },
    entries: [...logged.entries, written],
    holds: logged.holds,
    at: logged.at,
  };
}

/** Takes in a hold that is new or changed. */
export function withHold(logged: LoggedState, hold: Hold): LoggedState {
  const activeHolds = new Map(logged.state.activeHolds);
  if (hold.status === "active") activeHolds.set(hold.holdId, hold);
  else activeHolds.delete(hold.holdId);
  return {
    ...logged,
    state: { ...logged.state, activeHolds },
    holds: [...logged.holds, hold],
  };
}

function frozenAfter(
  { frozenAt }: Wallet,
  type: WalletLogEntry["type"],
  at: Timestamp,
): Timestamp | null {
  if (type === "freeze") return at;
  return type === "unfreeze" ? null : frozenAt;
}

/** A state with another figure for the day, or none. */
export function withDebited(
  logged: LoggedState,
  debitedOn: string | null,
  debited: bigint | null,
): LoggedState {
  const { wallet, activeHolds } = logged.state;
  return { ...logged, state: { wallet: { ...wallet, debitedOn, debited }, activeHolds } };
}

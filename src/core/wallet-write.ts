// The rules by which one write changes one wallet. Pure; time and ids are handed in.
import type { AssetLimits } from "./asset.ts";
import { Refusal } from "./errors.ts";
import { addMs, type Timestamp } from "./time.ts";
import type { Hold, WalletChange, WalletReply, WalletState, WalletWrite } from "./wallet.ts";
import { appendEntry, withExpiriesLogged, withHold, type LoggedState } from "./wallet-log.ts";
import {
  countDebit,
  findActiveHold,
  refuseAsset,
  refuseBalance,
  refuseFrozen,
  refuseHeld,
  refuseOverdraft,
} from "./wallet-refusals.ts";

export type WalletDecision =
  | (WalletChange & { readonly reply: WalletReply })
  /** `expiries`: logged although it is refused, so that a hold that was called expired is never active again. */
  | { readonly refusal: Refusal; readonly expiries: WalletChange | null };

interface DecisionContext {
  readonly now: Timestamp;
  readonly limits: AssetLimits;
  /** The hold that a commit or release names, whatever its status; undefined when there is none. */
  readonly namedHold: Hold | undefined;
  readonly newHoldId: () => string;
}

/** The wallet rules: decides one write that is no duplicate, on an active ledger. */
export function decideWalletWrite(
  state: WalletState,
  write: WalletWrite,
  context: DecisionContext,
): WalletDecision {
  const current = withExpiriesLogged(state, context.now);
  switch (write.type) {
    case "freeze":
    case "unfreeze":
      return changeFrozen(current, write.type);
    case "commit":
    case "release":
      return resolveHold(current, write, context);
    default:
      return decideKeyed(current, write, context);
  }
}

/** A credit, a debit, or a reservation. */
function decideKeyed(
  logged: LoggedState,
  write: Extract<WalletWrite, { assetCode: string }>,
  context: DecisionContext,
): WalletDecision {
  const { limits } = context;
  const { type, amount } = write;
  const refusal =
    type === "credit"
      ? (refuseAsset(logged, write.assetCode) ?? refuseBalance(logged, amount, limits))
      : (refuseFrozen(logged) ??
        refuseAsset(logged, write.assetCode) ??
        refuseOverdraft(logged, amount, limits));
  if (refusal !== null) return refused(refusal);
  if (type === "credit") return done(appendEntry(logged, write, 0n, amount), null);
  if (type === "reserve") return reserve(logged, write, context);
  const counted = countDebit(logged, amount, limits);
  if ("refusal" in counted) return refused(counted.refusal);
  return done(appendEntry(counted, write, 0n, -amount), null);
}

/** Freezing what is frozen, and the reverse, is a duplicate, which was told before this. */
function changeFrozen(logged: LoggedState, type: "freeze" | "unfreeze"): WalletDecision {
  if (logged.state.wallet.lastSeq === 0) {
    return refused(new Refusal("walletNotFound", "nothing was ever written to this wallet"));
  }
  return done(appendEntry(logged, { type, amount: 0n }, 0n), null);
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
  { namedHold, limits }: DecisionContext,
): WalletDecision {
  const frozen = write.type === "commit" ? refuseFrozen(logged) : null;
  if (frozen !== null) return refused(frozen);
  const found = findActiveHold(logged, write.holdId, namedHold);
  if ("refusal" in found) return found;
  const { hold } = found;
  const { holdId } = hold;
  if (write.type === "release") {
    const entry = { type: "release", amount: hold.amount, holdId } as const;
    const released = appendEntry(logged, entry, -hold.amount);
    return done(withHold(released, { ...hold, status: "released" }), null);
  }
  const amount = write.amount ?? hold.amount;
  const refusal = refuseHeld(hold, amount);
  if (refusal !== null) return refused(refusal);
  const counted = countDebit(logged, amount, limits);
  if ("refusal" in counted) return refused(counted.refusal);
  const committed = appendEntry(counted, { type: "commit", amount, holdId }, -hold.amount, -amount);
  return done(withHold(committed, { ...hold, status: "committed" }), null);
}

function refused(refusal: Refusal): WalletDecision {
  return { refusal, expiries: null };
}

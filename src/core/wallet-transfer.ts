// Transfers from one wallet to another of the same asset: their types, and the rules by which one changes both. Pure.
import type { AssetLimits } from "./asset.ts";
import type { Refusal } from "./errors.ts";
import { assert } from "./errors.ts";
import type { Timestamp } from "./time.ts";
import { availableOf, type Hold, type WalletChange, type WalletState } from "./wallet.ts";
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

export interface WalletTransfer {
  readonly type: "transfer";
  /** callerKeys of two wallets. */
  readonly from: string;
  readonly to: string;
  /** Smallest unit, above zero. */
  readonly amount: bigint;
  readonly assetCode: string;
  /** Unique in `from`, with those of its other writes. */
  readonly externalId: string | null;
  /** Any text, kept for audit with both rows and not read. */
  readonly metadata: string | null;
  /** The hold of `from` that the amount comes out of, whose rest is released; null id where what was named can't be one. */
  readonly fromHold: { readonly holdId: string | null } | null;
}

/** Transfers of which all are made or none; no two of one wallet have one externalId. */
export interface AtomicTransfers {
  readonly type: "atomic-transfers";
  readonly transfers: readonly WalletTransfer[];
}

export interface WalletFigures {
  readonly balance: bigint;
  readonly available: bigint;
}

export interface TransferReply {
  readonly status: "accepted" | "duplicate";
  /** Null for a duplicate of what was no transfer. */
  readonly transferId: string | null;
  readonly from: WalletFigures;
  readonly to: WalletFigures;
}

interface TransferContext {
  readonly now: Timestamp;
  readonly limits: AssetLimits;
  /** The hold that it names, whatever its status; undefined when there is none. */
  readonly namedHold: Hold | undefined;
  readonly newTransferId: () => string;
}

export type TransferDecision =
  | {
      readonly from: WalletChange;
      readonly to: WalletChange;
      readonly transferId: string;
    }
  /** `expiries`: of `from`, to be logged although it is refused. */
  | { readonly refusal: Refusal; readonly expiries: WalletChange | null };

/** The figures of a wallet that may never have been written. */
export function figuresOf(state: WalletState | null, now: Timestamp): WalletFigures {
  if (state === null) return { balance: 0n, available: 0n };
  return { balance: state.wallet.balance, available: availableOf(state, now) };
}

/** Decides a transfer that is no duplicate, on an active ledger, between two wallets. */
export function decideTransfer(
  fromState: WalletState,
  toState: WalletState,
  transfer: WalletTransfer,
  context: TransferContext,
): TransferDecision {
  const { from, to, amount, externalId, metadata } = transfer;
  assert(from !== to, "a transfer has two wallets");
  const payer = withExpiriesLogged(fromState, context.now);
  const payee = withExpiriesLogged(toState, context.now);
  const taken = takeOut(payer, payee, transfer, context);
  if ("refusal" in taken) return taken;
  const refusal = refuseBalance(payee, amount, context.limits);
  if (refusal !== null) return { refusal, expiries: null };
  const transferId = context.newTransferId();
  const holdId = taken.hold?.holdId ?? null;
  const out = appendEntry(
    taken.logged,
    { type: "transfer-out", amount, metadata, transferId, counterparty: to, externalId, holdId },
    -(taken.hold?.amount ?? 0n),
    -amount,
  );
  const received = {
    type: "transfer-in",
    amount,
    metadata,
    transferId,
    counterparty: from,
  } as const;
  return {
    from: taken.hold === null ? out : withHold(out, { ...taken.hold, status: "transferred" }),
    to: appendEntry(payee, received, 0n, amount),
    transferId,
  };
}

/** The wallet that pays with the amount counted, and the hold that it comes out of. */
function takeOut(
  payer: LoggedState,
  payee: LoggedState,
  { from, to, amount, assetCode, fromHold }: WalletTransfer,
  { limits, namedHold }: TransferContext,
): { logged: LoggedState; hold: Hold | null } | Extract<TransferDecision, { refusal: Refusal }> {
  const refused = (refusal: Refusal) => ({ refusal, expiries: null });
  const unfit =
    refuseFrozen(payer) ?? refuseAsset(payer, assetCode, from) ?? refuseAsset(payee, assetCode, to);
  if (unfit !== null) return refused(unfit);
  const found = fromHold === null ? null : findActiveHold(payer, fromHold.holdId, namedHold);
  if (found !== null && "refusal" in found) return found;
  const hold = found?.hold ?? null;
  const short = hold === null ? refuseOverdraft(payer, amount, limits) : refuseHeld(hold, amount);
  if (short !== null) return refused(short);
  const counted = countDebit(payer, amount, limits);
  return "refusal" in counted ? refused(counted.refusal) : { logged: counted, hold };
}

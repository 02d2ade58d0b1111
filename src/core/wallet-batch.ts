// Decides a batch of wallet writes against a snapshot that was read under the wallets' locks, and sums what it
// accepts into pending postings. Pure, as journal-batch.ts is.
import { refuseState } from "./journal-batch.ts";
import { Refusal, refusalBelow } from "./errors.ts";
import {
  WalletBatchState,
  type WalletBatchRecord,
  type WalletSnapshot,
} from "./wallet-batch-state.ts";
import {
  decideTransfer,
  figuresOf,
  type AtomicTransfers,
  type TransferReply,
  type WalletTransfer,
} from "./wallet-transfer.ts";
import { duplicateReply, type WalletReply, type WalletState, type WalletWrite } from "./wallet.ts";
import { decideWalletWrite } from "./wallet-write.ts";

export type WalletItem = WalletWrite | WalletTransfer | AtomicTransfers;

/** Of one transfer, or of all of an atomic bulk, in order. */
export interface TransfersReply {
  readonly status: "accepted" | "duplicate";
  readonly transfers: readonly TransferReply[];
}

export type WalletOutcome =
  { readonly reply: WalletReply | TransfersReply } | { readonly refusal: Refusal };

export interface WalletBatch extends WalletBatchRecord {
  readonly outcomes: readonly WalletOutcome[];
}

export function decideWalletBatch(
  snapshot: WalletSnapshot,
  items: readonly WalletItem[],
  newId: () => string,
): WalletBatch {
  const batch = new BatchInProgress(snapshot, newId);
  const outcomes = items.map((item) => batch.decide(item));
  return { outcomes, ...batch.result() };
}

type TransferOutcome =
  { readonly reply: TransferReply } | { readonly refusal: Refusal; readonly isExpired: boolean };

class BatchInProgress {
  readonly #snapshot: WalletSnapshot;
  readonly #state: WalletBatchState;
  readonly #newId: () => string;

  constructor(snapshot: WalletSnapshot, newId: () => string) {
    this.#snapshot = snapshot;
    this.#state = new WalletBatchState(snapshot, newId);
    this.#newId = newId;
  }

  result(): WalletBatchRecord {
    return this.#state.result();
  }

  decide(item: WalletItem): WalletOutcome {
    if (item.type === "atomic-transfers") return this.#decideAtomic(item.transfers);
    if (item.type !== "transfer") return this.#decideWrite(item);
    const outcome = this.#decideTransfer(item);
    if ("refusal" in outcome) {
      if (outcome.isExpired) this.#state.logExpiries(item.from);
      return outcome;
    }
    return { reply: { status: outcome.reply.status, transfers: [outcome.reply] } };
  }

  #decideWrite(item: WalletWrite): WalletOutcome {
    const { now, status } = this.#snapshot;
    const { callerKey } = item;
    const existing = this.#state.find(callerKey);
    const duplicate = existing === null ? null : this.#duplicate(existing, item);
    if (duplicate !== null) return { reply: duplicate };
    const stateRefusal = refuseState(status);
    if (stateRefusal !== null) return { refusal: stateRefusal };
    const assetCode = "assetCode" in item ? item.assetCode : "";
    const state = existing ?? this.#state.newWallet(callerKey, assetCode);
    const rule = this.#state.ruleOf(state.wallet.assetCode);
    const decision = decideWalletWrite(state, item, {
      now,
      limits: rule,
      namedHold: "holdId" in item ? this.#state.findHold(item.holdId) : undefined,
      newHoldId: this.#newId,
    });
    if ("refusal" in decision) {
      const { refusal, expiries } = decision;
      if (expiries !== null) this.#state.apply(callerKey, expiries, rule);
      return { refusal };
    }
    this.#state.apply(callerKey, decision, rule);
    if ("externalId" in item) {
      const { holdId } = decision.reply;
      this.#state.useKey(callerKey, item.externalId, { holdId, transferId: null });
    }
    return { reply: decision.reply };
  }

  #decideTransfer(item: WalletTransfer): TransferOutcome {
    const { now, status } = this.#snapshot;
    const duplicate = this.#duplicateTransfer(item);
    if (duplicate !== null) return { reply: duplicate };
    const stateRefusal = refuseState(status);
    if (stateRefusal !== null) return { refusal: stateRefusal, isExpired: false };
    const { from, to, assetCode, fromHold } = item;
    const rule = this.#state.ruleOf(assetCode);
    const decision = decideTransfer(
      this.#state.find(from) ?? this.#state.newWallet(from, assetCode),
      this.#state.find(to) ?? this.#state.newWallet(to, assetCode),
      item,
      {
        now,
        limits: rule,
        namedHold: this.#state.findHold(fromHold?.holdId ?? null),
        newTransferId: this.#newId,
      },
    );
    if ("refusal" in decision) {
      return { refusal: decision.refusal, isExpired: decision.expiries !== null };
    }
    this.#state.apply(from, decision.from, rule);
    this.#state.apply(to, decision.to, rule);
    const { transferId } = decision;
    this.#state.useKey(from, item.externalId, { holdId: null, transferId });
    return { reply: this.#transferReply("accepted", item, transferId) };
  }

  /** All of them or none: where one is refused, what those before it did is taken back. */
  #decideAtomic(transfers: readonly WalletTransfer[]): WalletOutcome {
    const duplicates = transfers.map((item) => this.#duplicateTransfer(item));
    const known = duplicates.filter((duplicate) => duplicate !== null);
    if (known.length === transfers.length) {
      return { reply: { status: "duplicate", transfers: known } };
    }
    if (known.length > 0) {
      const detail = "this externalId has already been used, and those of other transfers have not";
      const index = duplicates.findIndex((duplicate) => duplicate !== null);
      return { refusal: refusalOfTransfer(new Refusal("partlyDuplicate", detail), index) };
    }
    this.#state.begin();
    const replies: TransferReply[] = [];
    for (const [index, item] of transfers.entries()) {
      const outcome = this.#decideTransfer(item);
      if ("refusal" in outcome) {
        this.#state.takeBack();
        // Also of one that an earlier transfer found to have expired: what that logged has been taken back.
        if (item.fromHold !== null) this.#state.logExpiries(item.from);
        return { refusal: refusalOfTransfer(outcome.refusal, index) };
      }
      replies.push(outcome.reply);
    }
    this.#state.keep();
    return { reply: { status: "accepted", transfers: replies } };
  }

  /** The reply to a write that was recorded before. */
  #duplicate(state: WalletState, item: WalletWrite): WalletReply | null {
    const { now } = this.#snapshot;
    if ("externalId" in item) {
      const first = this.#state.findFirstUse(item.callerKey, item.externalId);
      return first === null ? null : duplicateReply(state, now, first.holdId);
    }
    if (!("holdId" in item)) {
      const isSo = (state.wallet.frozenAt !== null) === (item.type === "freeze");
      return isSo ? duplicateReply(state, now, null) : null;
    }
    const hold = this.#state.findHold(item.holdId);
    const isSameResolve =
      hold?.walletId === state.wallet.walletId &&
      hold.status === (item.type === "commit" ? "committed" : "released");
    return isSameResolve ? duplicateReply(state, now, null) : null;
  }

  /** The reply to a transfer whose externalId was used before, whatever for. */
  #duplicateTransfer(item: WalletTransfer): TransferReply | null {
    const first = this.#state.findFirstUse(item.from, item.externalId);
    return first === null ? null : this.#transferReply("duplicate", item, first.transferId);
  }

  #transferReply(
    status: TransferReply["status"],
    { from, to }: WalletTransfer,
    transferId: string | null,
  ): TransferReply {
    const figures = (key: string) => figuresOf(this.#state.find(key), this.#snapshot.now);
    return { status, transferId, from: figures(from), to: figures(to) };
  }
}

/** The refusal of one of several transfers as that of all of them: with its place, whatever the refusal is. */
function refusalOfTransfer(refusal: Refusal, index: number): Refusal {
  const faults =
    refusal.faults.length > 0 ? refusal.faults : [{ path: [], detail: refusal.message }];
  return refusalBelow(["transfers", index], refusal, faults);
}

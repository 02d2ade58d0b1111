// What a wallet refuses, each for one reason: frozen, another asset, no such hold, funds, the limits of its asset.
import type { AssetLimits } from "./asset.ts";
import { assert, Refusal, validationRefusal } from "./errors.ts";
import { quoted } from "./text.ts";
import type { Hold } from "./wallet.ts";
import { withDebited, type LoggedState } from "./wallet-log.ts";

/** Of what takes out of a wallet, or would. */
export function refuseFrozen({ state }: LoggedState): Refusal | null {
  if (state.wallet.frozenAt === null) return null;
  return new Refusal("walletFrozen", "the wallet is frozen: nothing can be taken out of it");
}

/** `callerKey`: whose wallet it is, where that has to be told; of one of two. */
export function refuseAsset(
  { state }: LoggedState,
  assetCode: string,
  callerKey: string | null = null,
): Refusal | null {
  if (state.wallet.assetCode === assetCode) return null;
  const whose = callerKey === null ? "the wallet" : `the wallet ${quoted(callerKey)}`;
  const detail = `must be ${state.wallet.assetCode}, the asset of ${whose}`;
  return validationRefusal([{ path: ["assetCode"], detail }]);
}

/**
 * The hold that a write names, `named` as it was before the write. `expiries`: to be logged although the write is refused,
 * so that a hold that was called expired is never active again.
 */
export function findActiveHold(
  logged: LoggedState,
  holdId: string | null,
  named: Hold | undefined,
): { readonly hold: Hold } | { readonly refusal: Refusal; readonly expiries: LoggedState | null } {
  const expired = logged.holds.find((hold) => hold.holdId === holdId);
  const hold = expired ?? named;
  if (hold?.walletId !== logged.state.wallet.walletId) {
    const id = holdId === null ? "with this id" : quoted(holdId);
    const refusal = new Refusal("holdNotFound", `the wallet has no hold ${id}`);
    return { refusal, expiries: null };
  }
  if (hold.status === "active") return { hold };
  const refusal = new Refusal("holdResolved", `the hold has been ${hold.status} already`);
  return { refusal, expiries: expired === undefined ? null : logged };
}

/** Of an amount that is to come out of a hold. */
export function refuseHeld(hold: Hold, amount: bigint): Refusal | null {
  if (amount <= hold.amount) return null;
  return validationRefusal([{ path: ["amount"], detail: "must not be more than is held" }]);
}

/** Of an amount that is to be taken out or held. */
export function refuseOverdraft(
  { state }: LoggedState,
  amount: bigint,
  { overdraftLimit }: AssetLimits,
): Refusal | null {
  const { balance, held } = state.wallet;
  if (balance - held - amount >= -overdraftLimit) return null;
  return new Refusal("insufficientFunds", "the amount is more than is available");
}

/** Of an amount that is to be added. */
export function refuseBalance(
  { state }: LoggedState,
  amount: bigint,
  { maxBalance }: AssetLimits,
): Refusal | null {
  if (maxBalance === null || state.wallet.balance + amount <= maxBalance) return null;
  const detail = `the balance would be more than ${maxBalance}, the most that a wallet of its asset may have (in smallest units)`;
  return new Refusal("limitExceeded", detail);
}

/** Counts an amount that is to be taken out towards the limit of its UTC day; the refusal where that is exceeded. */
export function countDebit(
  logged: LoggedState,
  amount: bigint,
  { dailyDebitMax }: AssetLimits,
): LoggedState | { readonly refusal: Refusal } {
  const { debitedOn, debited } = logged.state.wallet;
  // A figure that is not kept up would be wrong later; none at all is summed from the log when it is needed.
  if (dailyDebitMax === null) return debited === null ? logged : withDebited(logged, null, null);
  assert(debited !== null, "what was taken out on a day is known where there is a limit");
  const day = logged.at.slice(0, 10);
  const sum = (debitedOn === day ? debited : 0n) + amount;
  if (sum <= dailyDebitMax) return withDebited(logged, day, sum);
  const detail = `more than ${dailyDebitMax} would be taken out of the wallet on ${day} (UTC), the most that its asset allows (in smallest units)`;
  return { refusal: new Refusal("limitExceeded", detail) };
}

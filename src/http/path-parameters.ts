// What the path of a request names: a ledger of the caller's, by itself or with a wallet.
import { validationRefusal } from "../core/errors.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { labelCodePointsMax, textFault } from "../core/text.ts";
import { hasControlCharacter } from "../contract/wallet-body.ts";
import type { Caller } from "./authenticate.ts";
import type { LedgerDirectory } from "./ledger-directory.ts";

/** Decoded parts of a path, by their names in the route's. */
export type PathParameters = Readonly<Record<string, string>>;

/** The ledger's id in a path: `{ledgerId}`, or the part of `{walletKey}` before its first colon; null for none. */
export function ledgerIdIn({ ledgerId, walletKey }: PathParameters): string | null {
  if (walletKey === undefined) return ledgerId ?? null;
  const colon = walletKey.indexOf(":");
  return colon < 0 ? null : walletKey.slice(0, colon);
}

/**
 * The ledger of a path, which `{ledgerId}` names or the part of `{walletKey}` before its first colon, and
 * the part after it; null where the path names neither. A wallet key without a colon names no ledger, and
 * `requireCallerKey` refuses it later.
 */
export async function resolveLedger(
  ledgers: LedgerDirectory,
  caller: Caller,
  parameters: PathParameters,
): Promise<{ ledger: LedgerIdentity | null; callerKey: string | null }> {
  const ledgerId = ledgerIdIn(parameters);
  const ledger =
    ledgerId === null ? null : await ledgers.getLedger(caller.organizationId, ledgerId);
  const { walletKey } = parameters;
  if (walletKey === undefined) return { ledger, callerKey: null };
  return { ledger, callerKey: ledgerId === null ? "" : walletKey.slice(ledgerId.length + 1) };
}

/** Refuses a wallet key without a colon, and a callerKey other than 1 to 256 characters without control characters. */
export function requireCallerKey(callerKey: string, parameters: PathParameters): void {
  const fault =
    ledgerIdIn(parameters) === null ? "this one has no colon" : callerKeyFault(callerKey);
  if (fault === null) return;
  throw validationRefusal([
    { path: [], detail: `walletKey must be {ledgerId}:{callerKey}; ${fault}` },
  ]);
}

/** What is wrong with a callerKey, if anything. */
export function callerKeyFault(callerKey: string): string | null {
  const fault = hasControlCharacter(callerKey)
    ? "must not contain control characters"
    : textFault(callerKey, labelCodePointsMax);
  return fault === null ? null : `callerKey ${fault}`;
}

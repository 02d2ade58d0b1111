// Arguments of wallet commands: whose wallet, and how much.
import type { WalletAddress } from "../../../client/ledger-client.ts";
import { parseMajorAmount } from "../../../core/money.ts";
import { parseUuid } from "../../../core/text.ts";
import { requireLabel, type MajorUnit } from "../../input/arguments.ts";
import { usageFailure } from "../../failure.ts";

const uuidLength = 36;
const amountDigitsMax = 38;

/** What KEY names; `ledgerId` is null where it is a callerKey alone. */
export interface WalletName {
  readonly ledgerId: string | null;
  readonly callerKey: string;
}

/** Reads a callerKey, or a walletKey: one that begins with a UUID and a colon. */
export function requireWalletName(text: string): WalletName {
  const ledgerId = text[uuidLength] === ":" ? parseUuid(text.slice(0, uuidLength)) : null;
  const callerKey = ledgerId === null ? text : text.slice(uuidLength + 1);
  return { ledgerId, callerKey: requireLabel("KEY", callerKey) };
}

export function addressOf(wallet: WalletName, ownLedgerId: () => string): WalletAddress {
  return { ledgerId: wallet.ledgerId ?? ownLedgerId(), callerKey: wallet.callerKey };
}

/**
 * An amount above zero as the API wants it. `majorOf`: in major units of this asset; null: in smallest units.
 * `decimalHint`: what somebody is told who writes decimals in smallest units.
 */
export function requireAmount(
  text: string,
  majorOf: MajorUnit | null,
  decimalHint = "with --major it may have decimals",
): string {
  const amount =
    majorOf === null ? readSmallestUnits(text, decimalHint) : readMajorUnits(text, majorOf);
  if (amount <= 0n) throw usageFailure("AMOUNT must be above zero");
  const digits = amount.toString();
  if (digits.length > amountDigitsMax) {
    throw usageFailure(`AMOUNT must have at most ${amountDigitsMax} digits`);
  }
  return digits;
}

function readSmallestUnits(text: string, decimalHint: string): bigint {
  if (/^\+?[0-9]+$/.test(text)) return BigInt(text.replace(/^\+/, ""));
  const hint = /^\+?[0-9]+\.[0-9]+$/.test(text) ? `; ${decimalHint}` : "";
  throw usageFailure(`AMOUNT must be a whole number of smallest units, not "${text}"${hint}`);
}

function readMajorUnits(text: string, { code: assetCode, exponent }: MajorUnit): bigint {
  const { amount, fault } = parseMajorAmount(text, exponent);
  if (fault !== undefined) throw usageFailure(`AMOUNT ${assetCode} ${text} ${fault}`);
  return amount;
}

// Assets: their codes, and the rules by which wallets of an asset are posted to the ledger.
import { currencyExponents } from "./currencies.ts";
import { walletAccounts } from "./ledger.ts";

/** What a code may be; see `parseAssetCode`. */
export const assetCodePattern = /^[A-Za-z0-9_.:/-]{1,32}$/;

/** An asset code as it is kept, or null: one that equals an ISO 4217 code without regard to case is that code. */
export function parseAssetCode(text: string): string | null {
  if (!assetCodePattern.test(text)) return null;
  const upper = text.toUpperCase();
  return currencyExponents.has(upper) ? upper : text;
}

/** A rate as a fraction of integers: exact, whatever its decimals. */
export interface Rate {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const ratePattern = /^(?:0|[1-9][0-9]{0,37})(?:\.[0-9]{1,38})?$/;

/** Reads an exact decimal above zero, such as `1.0845`; null for anything else. */
export function parseRate(text: string): Rate | null {
  if (!ratePattern.test(text)) return null;
  const [whole = "", fraction = ""] = text.split(".");
  const numerator = BigInt(whole + fraction);
  return numerator === 0n ? null : { numerator, denominator: 10n ** BigInt(fraction.length) };
}

/** amount × rate, rounded half to even, so that many roundings favour no side. */
export function convert(amount: bigint, rate: Rate): bigint {
  const product = amount * rate.numerator;
  const quotient = product / rate.denominator;
  const twice = 2n * (product % rate.denominator);
  const isUp = twice > rate.denominator || (twice === rate.denominator && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

/** What an asset allows of each of its wallets, in smallest units. */
export interface AssetLimits {
  /** How far below zero `available` may go. */
  readonly overdraftLimit: bigint;
  /** What a credit or a transfer may bring the balance to at most; null: no limit. */
  readonly maxBalance: bigint | null;
  /** What debits, commits and transfers may take out in a UTC day at most; null: no limit. */
  readonly dailyDebitMax: bigint | null;
}

export interface AssetRule extends AssetLimits {
  readonly assetCode: string;
  /** 1, 2, 3 … for its asset. */
  readonly version: number;
  readonly walletsAccount: string;
  readonly clearingAccount: string;
  /** An exact decimal: functional smallest units per smallest unit of the asset; null while there is none. */
  readonly rate: string | null;
  readonly exponent: number;
}

/** Of each asset the last of its versions, which come by asset and version. */
export function newestRules(versions: readonly AssetRule[]): AssetRule[] {
  return [...new Map(versions.map((rule) => [rule.assetCode, rule])).values()];
}

/**
 * The rule of an asset without a rule of its own. The functional currency, and codes that are no currency,
 * have the rate 1; another currency has no rate until one is set.
 */
export function defaultAssetRule(assetCode: string, functionalCurrency: string): AssetRule {
  const pair = walletAccounts(assetCode);
  const exponent = currencyExponents.get(assetCode);
  const isOneToOne = assetCode === functionalCurrency || exponent === undefined;
  return {
    assetCode,
    version: 1,
    walletsAccount: pair.wallets.glAccountCode,
    clearingAccount: pair.clearing.glAccountCode,
    rate: isOneToOne ? "1" : null,
    exponent: exponent ?? 0,
    overdraftLimit: 0n,
    maxBalance: null,
    dailyDebitMax: null,
  };
}

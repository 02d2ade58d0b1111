// Codes that look like currencies and are none: rather mistyped than meant.
import { currencyExponents, unknownCurrencies } from "../../core/currencies.ts";
import { usageFailure } from "../failure.ts";
import { suggestion } from "./suggestion.ts";

export interface CurrencyFlags {
  allowUnknownCurrency?: boolean;
}

/** Whether a code has the form of a currency's, three letters, and is none of ISO 4217. */
export function isUnknownCurrency(code: string): boolean {
  return unknownCurrencies([code]).length > 0;
}

/** What is said of such codes that a ledger's entries have; null of none. */
export function describeUnknownCurrencies(codes: readonly string[]): string | null {
  if (codes.length === 0) return null;
  const which = codes.length === 1 ? "which is no currency" : "which are no currencies";
  return `entries are in ${codes.join(", ")}, ${which} of ISO 4217: mistyped, unless meant as a code of its own`;
}

/** Throws a usage failure for such a code, unless `--allow-unknown-currency` says that it is meant. */
export function refuseUnknownCurrency(
  argument: string,
  code: string,
  { allowUnknownCurrency = false }: CurrencyFlags,
): void {
  if (allowUnknownCurrency || !isUnknownCurrency(code)) return;
  throw usageFailure(
    `${argument}: ${code} is no currency of ISO 4217; --allow-unknown-currency takes it as a code of its own` +
      suggestion(code, [...currencyExponents.keys()]),
  );
}

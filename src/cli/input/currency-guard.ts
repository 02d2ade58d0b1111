// Codes that look like currencies and are none: rather mistyped than meant.
import { currencyExponents } from "../../core/currencies.ts";
import { usageFailure } from "../failure.ts";
import { suggestion } from "./suggestion.ts";

export interface CurrencyFlags {
  allowUnknownCurrency?: boolean;
}

/** Whether a code has the form of a currency's, three letters, and is none of ISO 4217. */
export function isUnknownCurrency(code: string): boolean {
  return /^[A-Za-z]{3}$/.test(code) && !currencyExponents.has(code.toUpperCase());
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

// Amounts for people: major units and their currency.
import { currencyExponent } from "../../core/currencies.ts";
import { formatMajorAmount } from "../../core/money.ts";
import { printable } from "./printable.ts";

/** `-125.00 USD`, from smallest units. */
export function displayAmount(amount: bigint | string, currency: string): string {
  return `${formatMajorAmount(BigInt(amount), currencyExponent(currency))} ${printable(currency)}`;
}

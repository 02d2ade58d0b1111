// Amounts for people: major units and their currency.
import { formatMajorAmount } from "../../core/money.ts";
import { printable } from "./printable.ts";

/** `-1,234,567.00 USD`, from `-1234567.00 USD`: for people alone, since no program reads it. */
export function groupedDigits(amount: string): string {
  return amount.replace(/^-?[0-9]+/, (whole) => whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ","));
}

/** `-1,234,567.00`, from smallest units of a currency with `exponent` decimals. */
export function majorText(amount: bigint | string, exponent: number): string {
  return groupedDigits(formatMajorAmount(BigInt(amount), exponent));
}

/** `-125.00 USD`, from smallest units of a currency with `exponent` decimals; where none is known, without its code. */
export function displayAmount(
  amount: bigint | string,
  currency: string | null,
  exponent: number,
): string {
  const number = formatMajorAmount(BigInt(amount), exponent);
  return currency === null ? number : `${number} ${printable(currency)}`;
}

// Amounts for people: major units and their currency.
import { formatMajorAmount } from "../../core/money.ts";
import { printable } from "./printable.ts";

/** `-125.00 USD`, from smallest units of a currency with `exponent` decimals; where none is known, without its code. */
export function displayAmount(
  amount: bigint | string,
  currency: string | null,
  exponent: number,
): string {
  const number = formatMajorAmount(BigInt(amount), exponent);
  return currency === null ? number : `${number} ${printable(currency)}`;
}

// Amounts for people: major units and their currency.
import { formatMajorAmount } from "../../core/money.ts";
import { printable } from "./printable.ts";

/** `-125.00 USD`, from smallest units of a currency with `exponent` decimals. */
export function displayAmount(amount: bigint | string, currency: string, exponent: number): string {
  return `${formatMajorAmount(BigInt(amount), exponent)} ${printable(currency)}`;
}

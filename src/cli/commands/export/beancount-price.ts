// Prices with which beancount weighs a posting to the last digit. It computes in decimals of 28 digits, divides a total
// price by the amount, and multiplies again: half of all totals come out some 10^-22 beside themselves, and a sum that
// its query tool shows with the digits behind cut off is then a cent less.
import { convert } from "../../../core/asset.ts";

const digitsKept = 28;
/** The weight of a price with so many digits is nearer to the total than anything beside it in 28. */
const digitsWritten = 32;

/** A number: coefficient × 10^exponent. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** Whether `total`, written as a total price, is what the posting of `units` weighs. Both are above zero. */
export function isTotalExact(units: bigint, total: bigint): boolean {
  const price = quotient(total, units, digitsKept);
  const weight = rounded(units * price.coefficient, digitsKept);
  return isSame(
    { ...weight, exponent: weight.exponent + price.exponent },
    { coefficient: total, exponent: 0 },
  );
}

/** The price of one, in so many digits that the posting weighs `total`. In units of their smallest. */
export function exactPrice(units: bigint, total: bigint): Decimal {
  return quotient(total, units, digitsWritten);
}

/** A decimal as text, without an exponent. */
export function decimalText({ coefficient, exponent }: Decimal): string {
  if (exponent >= 0) return String(coefficient * 10n ** BigInt(exponent));
  const digits = String(coefficient).padStart(1 - exponent, "0");
  return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

function quotient(dividend: bigint, divisor: bigint, digits: number): Decimal {
  // One digit more or less than is kept, before it is rounded.
  const shift = digits + 1 - (lengthOf(dividend) - lengthOf(divisor));
  const [up, down] = shift >= 0 ? [10n ** BigInt(shift), 1n] : [1n, 10n ** BigInt(-shift)];
  const exact = { numerator: dividend * up, denominator: divisor * down };
  const excess = lengthOf(exact.numerator / exact.denominator) - digits;
  const denominator = exact.denominator * 10n ** BigInt(Math.max(0, excess));
  const coefficient = convert(1n, { ...exact, denominator });
  return { coefficient, exponent: Math.max(0, excess) - shift };
}

function rounded(value: bigint, digits: number): Decimal {
  const excess = Math.max(0, lengthOf(value) - digits);
  const denominator = 10n ** BigInt(excess);
  return { coefficient: convert(1n, { numerator: value, denominator }), exponent: excess };
}

function lengthOf(value: bigint): number {
  return String(value).length;
}

function isSame(left: Decimal, right: Decimal): boolean {
  const exponent = Math.min(left.exponent, right.exponent);
  const scaled = (decimal: Decimal) =>
    decimal.coefficient * 10n ** BigInt(decimal.exponent - exponent);
  return scaled(left) === scaled(right);
}

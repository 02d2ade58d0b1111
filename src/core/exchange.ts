// From one currency to another by a rate as banks quote it, in major units: exact until it is rounded once.
import { convert, type Rate } from "./asset.ts";

/** How many decimals the major units of two currencies have. */
export interface ExponentPair {
  readonly from: number;
  readonly to: number;
}

/**
 * Smallest units of one currency in smallest units of another, rounded half to even. `rate` is major units of the second
 * for one major unit of the first: 1000.00 USD at 0.9123 are 912.30 EUR, and 1000 JPY at 0.0061 are 6.10 EUR.
 */
export function exchange(amount: bigint, rate: Rate, exponents: ExponentPair): bigint {
  const scaled: Rate = {
    numerator: rate.numerator * 10n ** BigInt(exponents.to),
    denominator: rate.denominator * 10n ** BigInt(exponents.from),
  };
  return amount < 0n ? -convert(-amount, scaled) : convert(amount, scaled);
}

// Exchange between currencies: against rationals computed another way, and by known figures.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRate } from "../../src/core/asset.ts";
import { exchange } from "../../src/core/exchange.ts";

const at = (text: string) => {
  const rate = parseRate(text);
  if (rate === null) throw new Error(`${text} is a rate`);
  return rate;
};

describe("an exchange", () => {
  it.each([
    // 1,000.00 USD are 912.30 EUR.
    [100_000n, "0.9123", 2, 2, 91_230n],
    // 1,000 yen, which have no decimals, are 6.10 EUR.
    [1_000n, "0.0061", 0, 2, 610n],
    // 6.10 EUR are 1,000 yen.
    [610n, "163.934426229508", 2, 0, 1_000n],
    // 1.000 dinar, which has three, is 2.98 EUR.
    [1_000n, "2.98", 3, 2, 298n],
    // Halves go to the even neighbour, on both sides of zero.
    [1n, "0.5", 2, 2, 0n],
    [3n, "0.5", 2, 2, 2n],
    [5n, "0.5", 2, 2, 2n],
    [-1n, "0.5", 2, 2, 0n],
    [-3n, "0.5", 2, 2, -2n],
    [-5n, "0.5", 2, 2, -2n],
    [0n, "1.5", 2, 2, 0n],
  ])("of %s at %s, with %s and %s decimals, is %s", (amount, rate, from, to, expected) => {
    expect(exchange(amount, at(rate), { from, to })).toBe(expected);
  });

  it("is never more than half a unit off, and even where it is just half", () => {
    const exponent = fc.integer({ min: 0, max: 18 });
    const rates = fc.tuple(fc.bigInt(1n, 10n ** 12n), fc.integer({ min: 0, max: 9 }));
    const amounts = fc.bigInt(-(10n ** 38n), 10n ** 38n);
    fc.assert(
      fc.property(amounts, rates, exponent, exponent, (amount, [digits, decimals], from, to) => {
        const numerator = digits * 10n ** BigInt(to);
        const denominator = 10n ** BigInt(decimals + from);
        const rate = { numerator: digits, denominator: 10n ** BigInt(decimals) };
        const result = exchange(amount, rate, { from, to });
        const twiceOff = 2n * (amount * numerator - result * denominator);
        const size = twiceOff < 0n ? -twiceOff : twiceOff;
        expect(size <= denominator).toBe(true);
        if (size === denominator) expect(result % 2n).toBe(0n);
        expect(exchange(-amount, rate, { from, to })).toBe(-result);
      }),
    );
  });
});

// Asset codes, exact rates and their rounding. The oracle of a conversion is the fraction itself.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convert, defaultAssetRule, parseAssetCode, parseRate } from "../../src/core/asset.ts";

describe("an asset code", () => {
  test.each([
    ["usd", "USD"],
    ["EuR", "EUR"],
    ["xau", "XAU"],
    ["BTC", "BTC"],
    ["btc", "btc"],
    ["usdc", "usdc"],
    ["a", "a"],
    ["_.:/-", "_.:/-"],
    ["9".repeat(32), "9".repeat(32)],
  ])("%s is kept as %s", (text, kept) => {
    expect(parseAssetCode(text)).toBe(kept);
  });

  test.each(["", "9".repeat(33), "a b", "a\n", "ü", "a,b", "U$D", "\0", "USD "])(
    "%j is none",
    (text) => {
      expect(parseAssetCode(text)).toBeNull();
    },
  );
});

describe("a rate", () => {
  test.each([
    ["1", 1n, 1n],
    ["1.0845", 10845n, 10000n],
    ["0.001", 1n, 1000n],
    ["100.50", 10050n, 100n],
    [`0.${"0".repeat(37)}1`, 1n, 10n ** 38n],
    ["9".repeat(38), 10n ** 38n - 1n, 1n],
  ])("%s is exactly %s/%s", (text, numerator, denominator) => {
    const rate = parseRate(text);
    expect(rate).not.toBeNull();
    expect((rate?.numerator ?? 0n) * denominator).toBe(numerator * (rate?.denominator ?? 0n));
  });

  test.each([
    "",
    "0",
    "0.0",
    "-1",
    "+1",
    "1.",
    ".5",
    "01",
    "1e3",
    "1,5",
    " 1",
    "1\n",
    "NaN",
    "Infinity",
    "1".repeat(39),
    `0.${"1".repeat(39)}`,
  ])("%j is none", (text) => {
    expect(parseRate(text)).toBeNull();
  });
});

describe("a conversion", () => {
  const half = { numerator: 1n, denominator: 2n };

  test.each([
    [0n, 0n],
    [1n, 0n],
    [2n, 1n],
    [3n, 2n],
    [5n, 2n],
    [7n, 4n],
    [9n, 4n],
  ])("of %s halves gives %s: half goes to even", (amount, expected) => {
    expect(convert(amount, half)).toBe(expected);
  });

  test("is never off by more than half a unit, and by half only to an even one", () => {
    const natural = fc.bigInt({ min: 1n, max: 10n ** 40n });
    fc.assert(
      fc.property(natural, natural, natural, (amount, numerator, denominator) => {
        const result = convert(amount, { numerator, denominator });
        const off = 2n * (result * denominator - amount * numerator);
        const distance = off < 0n ? -off : off;
        expect(distance <= denominator).toBe(true);
        if (distance === denominator) expect(result % 2n).toBe(0n);
      }),
    );
  });
});

describe("the rule of an asset that has none", () => {
  test.each([
    ["USD", "USD", "1", 2],
    ["EUR", "USD", null, 2],
    ["JPY", "USD", null, 0],
    ["BHD", "USD", null, 3],
    ["JPY", "JPY", "1", 0],
    ["tokens", "USD", "1", 0],
  ])(
    "%s in a ledger in %s has the rate %s and the exponent %i",
    (asset, currency, rate, exponent) => {
      expect(defaultAssetRule(asset, currency)).toEqual({
        assetCode: asset,
        version: 1,
        walletsAccount: `wallets:${asset}`,
        clearingAccount: `wallets-clearing:${asset}`,
        rate,
        exponent,
        overdraftLimit: 0n,
        maxBalance: null,
        dailyDebitMax: null,
      });
    },
  );
});

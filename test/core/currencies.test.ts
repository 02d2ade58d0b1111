// The exponents of currencies (ISO 4217).
import { describe, expect, it } from "vitest";
import { currencyExponent, currencyExponents } from "../../src/core/currencies.ts";

describe("the exponents of currencies", () => {
  it.each([
    ["USD", 2],
    ["EUR", 2],
    ["HUF", 2],
    ["IDR", 2],
    ["COP", 2],
    ["IRR", 2],
    ["MGA", 2],
    ["MRU", 2],
    ["JPY", 0],
    ["KRW", 0],
    ["ISK", 0],
    ["UGX", 0],
    ["IQD", 3],
    ["KWD", 3],
    ["TND", 3],
    ["CLF", 4],
    ["UYW", 4],
    ["UYI", 0],
    ["XCG", 2],
  ])("gives %s its ISO 4217 exponent %i", (code, exponent) => {
    expect(currencyExponent(code)).toBe(exponent);
  });

  it("does not follow the runtime's locale data, which says how prices are written", () => {
    const localeDecimals = (currency: string) =>
      new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
        .maximumFractionDigits;
    const differing = [...currencyExponents].filter(
      ([code, exponent]) => localeDecimals(code) !== exponent,
    );
    expect(differing.map(([code]) => code)).toEqual(expect.arrayContaining(["IQD", "COP"]));
  });

  it.each(["XAU", "XDR", "XXX", "XTS"])("gives %s, which has no minor unit, 0", (code) => {
    expect(currencyExponents.has(code)).toBe(true);
    expect(currencyExponent(code)).toBe(0);
  });

  it.each(["VACHR", "usd", "", "RGAGX", "constructor"])("gives %j, outside the list, 0", (code) => {
    expect(currencyExponents.has(code)).toBe(false);
    expect(currencyExponent(code)).toBe(0);
  });

  it("holds three capital letters a code, none twice", () => {
    expect(currencyExponents.size).toBe(181);
    for (const code of currencyExponents.keys()) expect(code).toMatch(/^[A-Z]{3}$/);
  });
});

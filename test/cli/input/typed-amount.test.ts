// Amounts of lines as they are typed: what is read, what they come to, and what is refused.
import { describe, expect, it } from "vitest";
import { amountsOfLine, parseTypedAmount } from "../../../src/cli/input/typed-amount.ts";

const exponents: Readonly<Record<string, number>> = { EUR: 2, USD: 2, JPY: 0, KWD: 3, POINTS: 0 };

function amounts(text: string, isMajor = true) {
  const typed = parseTypedAmount("it", text, {});
  if (typed === null) return null;
  const exponentOf = (code: string) => exponents[code] ?? 0;
  return amountsOfLine("it", typed, { functionalCurrency: "EUR", exponentOf, isMajor });
}

const foreign = (
  functionalAmount: string,
  amount: string,
  currency: string,
  spotRate?: number,
) => ({
  functionalAmount,
  transactionAmount: amount,
  transactionCurrency: currency,
  ...(spotRate === undefined ? {} : { spotRate }),
});

describe("a typed amount", () => {
  it.each([
    ["125.00", { functionalAmount: "12500" }],
    ["+125", { functionalAmount: "12500" }],
    ["-0.05EUR", { functionalAmount: "-5" }],
    ["-0.05 eur", { functionalAmount: "-5" }],
    ["+1000.00USD@0.92", foreign("92000", "100000", "USD", 0.92)],
    ["-1000.00 usd @ 0.92", foreign("-92000", "-100000", "USD", 0.92)],
    ["1000JPY@0.0061", foreign("610", "1000", "JPY", 0.0061)],
    ["-1.000KWD@2.985", foreign("-298", "-1000", "KWD", 2.985)],
    ["1.000KWD@2.975", foreign("298", "1000", "KWD", 2.975)],
    ["100.00USD@@918.40", foreign("91840", "10000", "USD")],
    ["-100.00USD@@918.40", foreign("-91840", "-10000", "USD")],
    ["-100.00USD@@-918.40", foreign("-91840", "-10000", "USD")],
    ["-100.00 USD @ 0.92 @@ 91.99", foreign("-9199", "-10000", "USD", 0.92)],
    ["0USD@@-3.00", foreign("-300", "0", "USD")],
    // A number of JSON would not be exactly this rate.
    ["1USD@0.9999999999999999999", foreign("100", "100", "USD")],
    ["90071992547409.93USD@1", foreign("9007199254740993", "9007199254740993", "USD", 1)],
  ])("%s in major units", (text, expected) => {
    expect(amounts(text)).toEqual(expected);
  });

  it.each([
    ["+12500", { functionalAmount: "12500" }],
    ["100000USD@0.92", foreign("92000", "100000", "USD", 0.92)],
    ["100000JPY@0.0061", foreign("61000", "100000", "JPY", 0.0061)],
    ["100000USD@@91999", foreign("91999", "100000", "USD")],
  ])("%s in smallest units, at the same rate", (text, expected) => {
    expect(amounts(text, false)).toEqual(expected);
  });

  it.each(["", "1,000.00", "1.", ".5", "USD", "5USD@", "5@0.92", "5USD@@", "--5", "5 000", "5€"])(
    "is not %j",
    (text) => {
      expect(amounts(text)).toBeNull();
    },
  );

  it.each([
    ["5.001USD@1", true, "it: USD 5.001 has 3 decimals, but its currency has only 2"],
    ["5USD@@1.001", true, "it: EUR 1.001 has 3 decimals"],
    ["5.00USD@1", false, "it: 5.00 is no whole number; with --major it may have decimals"],
    [
      "5USD",
      true,
      "it: USD is not the ledger's currency: add what it is worth, as @RATE (EUR for one",
    ],
    ["5EUR@1", true, "it: EUR is the ledger's own currency, and has no rate"],
    ["5EUX@1", true, "EUX is no currency of ISO 4217; --allow-unknown-currency"],
    ["5USD@0", true, "a rate is an exact decimal above zero"],
    ["5USD@1e3", true, "a rate is an exact decimal above zero"],
    ["0.01USD@0.5", true, "it: it comes to 0 EUR"],
    ["5USD@@0", true, "it: it comes to 0 EUR"],
    ["5USD@@-4", true, "it: what is behind @@ has another sign"],
    [`5${"A".repeat(33)}@1`, true, "it: a currency has 1 to 32 letters"],
  ])("of %s is refused", (text, isMajor, says) => {
    expect(() => amounts(text, isMajor)).toThrow(says);
  });
});

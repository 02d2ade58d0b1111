// Amounts in major units.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMajorAmount, parseMajorAmount } from "../../src/core/money.ts";

describe("amounts in major units", () => {
  it.each([
    ["125.00", 2, 12500n],
    ["125", 2, 12500n],
    ["125.5", 2, 12550n],
    ["+125.00", 2, 12500n],
    ["-0.01", 2, -1n],
    ["0", 2, 0n],
    ["1500", 0, 1500n],
    ["1.234", 3, 1234n],
    ["0.0001", 4, 1n],
    ["90071992547409.93", 2, 9007199254740993n],
    ["-99999999999999999999999999999999999999.99", 2, -9999999999999999999999999999999999999999n],
  ])("reads %s at exponent %i exactly", (text, exponent, amount) => {
    expect(parseMajorAmount(text, exponent)).toEqual({ amount });
  });

  it("says so when there are too many decimals, even where they are zeros", () => {
    expect(parseMajorAmount("1.005", 2).fault).toBe("has 3 decimals, but its currency has only 2");
    expect(parseMajorAmount("1.000", 2).fault).toBe("has 3 decimals, but its currency has only 2");
    expect(parseMajorAmount("1.0", 0).fault).toBe("has 1 decimal, but its currency has none");
  });

  it.each([
    "",
    ".5",
    "5.",
    "1,000.00",
    "1e3",
    "0x10",
    " 1",
    "1 ",
    "--1",
    "1.2.3",
    "NaN",
    "١",
    "1_0",
  ])("refuses %j, which is no plain decimal number", (text) => {
    expect(parseMajorAmount(text, 2).fault).toMatch(/must be a number such as/);
  });

  it.each([
    [12500n, 2, "125.00"],
    [-12500n, 2, "-125.00"],
    [-1n, 2, "-0.01"],
    [0n, 2, "0.00"],
    [0n, 0, "0"],
    [-7n, 0, "-7"],
    [5n, 3, "0.005"],
    [123456789012345678901234567890n, 4, "12345678901234567890123456.7890"],
  ])("writes %s at exponent %i with all decimals", (amount, exponent, text) => {
    expect(formatMajorAmount(amount, exponent)).toBe(text);
  });

  it("reads back every amount that it writes", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.integer({ min: 0, max: 6 }), (amount, exponent) => {
        expect(parseMajorAmount(formatMajorAmount(amount, exponent), exponent)).toEqual({ amount });
      }),
    );
  });
});

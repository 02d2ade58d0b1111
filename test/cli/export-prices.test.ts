// Prices that beancount weighs exactly, held against Python's own decimals, which are what beancount computes in.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import {
  decimalText,
  exactPrice,
  isTotalExact,
} from "../../src/cli/commands/export/beancount-price.ts";
import { SeededRandom } from "../../src/seed/seeded-random.ts";
import { hasPython, python } from "../support/python.ts";

const oracle = `
import sys
from decimal import Decimal
for line in sys.stdin:
    units, total, price = map(Decimal, line.split())
    print(int(units * (total / units) == total), int(units * price == total))
`;

/** Amounts of 1 to 20 digits, from smallest units to books of a bank. */
function amounts(count: number): { units: bigint; total: bigint }[] {
  const random = new SeededRandom("prices");
  const amount = () => {
    const digits = Array.from({ length: random.between(1, 20) }, () => random.below(10)).join("");
    return BigInt(digits) + 1n;
  };
  return Array.from({ length: count }, () => ({ units: amount(), total: amount() }));
}

describe("a price", () => {
  it("in 32 digits is written out in full", () => {
    expect(decimalText(exactPrice(2n, 3n))).toMatch(/^1\.50*$/);
    expect(decimalText(exactPrice(30_007n, 32_551n))).toBe("1.0847802179491451994534608591329");
    expect(decimalText({ coefficient: 12n, exponent: 3 })).toBe("12000");
    expect(decimalText({ coefficient: 12n, exponent: -4 })).toBe("0.0012");
  });

  it.runIf(hasPython)("weighs the total, and a total price is known to or not", () => {
    const cases = amounts(5_000);
    const lines = cases.map(({ units, total }) =>
      [units, total, decimalText(exactPrice(units, total))].join(" "),
    );
    const { stdout } = spawnSync(python, ["-c", oracle], {
      encoding: "utf8",
      input: lines.join("\n"),
    });
    const expected = cases.map(({ units, total }) => `${isTotalExact(units, total) ? 1 : 0} 1`);
    expect(stdout.trim().split("\n")).toEqual(expected);
    expect(new Set(expected).size).toBe(2);
  });
});

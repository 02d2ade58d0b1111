// Lines that bring what an account holds in a currency to zero, whatever the signs of both amounts.
import fc from "fast-check";
import { expect, it } from "vitest";
import { divideLines, valueOf } from "../../src/cli/commands/entry/made-entries.ts";
import { zeroingLines } from "../../src/cli/commands/entry/close-accounts.ts";
import { parseEntryBody } from "../../src/contract/entry-body.ts";

it("the service takes them, and both amounts sum to the sums negated", () => {
  const amount = fc.bigInt(-5n, 5n);
  fc.assert(
    fc.property(amount, amount, (transaction, functional) => {
      fc.pre(transaction !== 0n || functional !== 0n);
      const sum = { glAccountCode: "4000", currency: "USD", transaction, functional };
      const lines = zeroingLines(sum, "EUR");
      expect(valueOf(lines)).toBe(-functional);
      const foreign = lines.map(({ transactionAmount }) => BigInt(transactionAmount ?? 0));
      expect(foreign.reduce((total, part) => total + part, 0n)).toBe(-transaction);
      // With lines enough to make it an entry that sums to zero.
      const rest = [functional - 100n, 100n].map((part) => ({
        glAccountCode: "3000",
        functionalAmount: String(part),
      }));
      const value = { lines: [...lines, ...rest] };
      const { faults } = parseEntryBody(
        { value, inexactNumbers: [] },
        { functionalCurrency: "EUR" },
      );
      expect(faults).toBeUndefined();
    }),
  );
});

it("in functional currency there is one line", () => {
  const sum = { glAccountCode: "4000", currency: "EUR", transaction: -7n, functional: -7n };
  expect(zeroingLines(sum, "EUR")).toEqual([{ glAccountCode: "4000", functionalAmount: "7" }]);
});

it("entries have room for the line against them, and lines of one account stay together", () => {
  const line = { glAccountCode: "4000", functionalAmount: "1" };
  const pairs = Array.from({ length: 1_100 }, () => [line, line]);
  const parts = divideLines(pairs, 1);
  expect(parts.map(({ length }) => length)).toEqual([998, 998, 204]);
  expect(divideLines([], 1)).toEqual([]);
});

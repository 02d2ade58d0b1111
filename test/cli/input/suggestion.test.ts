// What is suggested for a mistyped name.
import { expect, it } from "vitest";
import { nearest, suggestion } from "../../../src/cli/input/suggestion.ts";

it.each([
  ["1001", ["1000", "1100", "2000", "5000"], ["1000"]],
  ["1010", ["1000", "1100", "2000"], ["1000", "1100"]],
  ["2026-30", ["2026-03", "2026-04", "2025-12"], ["2026-03"]],
  ["2026-3", ["2026-02", "2026-03"], ["2026-03"]],
  ["Wallets:usd", ["wallets:USD", "wallets:EUR"], ["wallets:USD"]],
  ["Expenses:Foof", ["Expenses:Food", "Expenses:Rent"], ["Expenses:Food"]],
  ["9999", ["1000", "2000"], []],
  ["x", ["y"], []],
  ["", ["1000"], []],
])("takes %j among %j for %j", (word, known, meant) => {
  expect(nearest(word, known)).toEqual(meant);
});

it("puts it on a line of its own, three names at most", () => {
  expect(suggestion("1001", ["1000"])).toBe("\n  Did you mean 1000?");
  expect(suggestion("100", ["1001", "1002", "1003", "1004"])).toBe(
    "\n  Did you mean 1001, 1002 or 1003?",
  );
  expect(suggestion("zzz", ["1001"])).toBe("");
});

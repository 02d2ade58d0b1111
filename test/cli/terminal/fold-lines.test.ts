// Lines with hashes on terminals that are narrower than they are.
import { expect, test } from "vitest";
import { foldLines } from "../../../src/cli/terminal/fold-lines.ts";

const hash = "0123456789abcdef".repeat(4);
const lines = [
  "closeHash    short",
  `MISMATCH     the record at index 1 leads to the root ${hash}, the signed root is ${hash}`,
  '東京  period "2026-01" from 2026-01-01T00:00:00.000Z up to 2026-02-01T00:00:00.000Z',
].join("\n");

test("long lines are continued below what follows their label", () => {
  expect(foldLines(lines, 13, 80).split("\n")).toEqual([
    "closeHash    short",
    "MISMATCH     the record at index 1 leads to the root",
    `             ${hash},`,
    "             the signed root is",
    `             ${hash}`,
    '東京  period "2026-01" from 2026-01-01T00:00:00.000Z up to',
    "             2026-02-01T00:00:00.000Z",
  ]);
});

test("no word is broken where it is wider than the terminal, and nothing is where there is no terminal", () => {
  expect(foldLines(`closeHash    ${hash}`, 13, 40)).toBe(`closeHash    ${hash}`);
  expect(foldLines(lines, 13, null)).toBe(lines);
});

test("no command in backticks is broken", () => {
  const advice =
    "Use a key with that scope: `ledgerctl key create --org ID --scope admin` makes one; it`s new";
  expect(foldLines(advice, 2, 50).split("\n")).toEqual([
    "Use a key with that scope:",
    "  `ledgerctl key create --org ID --scope admin`",
    "  makes one; it`s new",
  ]);
});

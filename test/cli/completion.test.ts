// Where the cursor is, and how bash's words are read and written.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findPosition } from "../../src/cli/commands/completion/position.ts";
import { forBash, splitShellLine } from "../../src/cli/commands/completion/shell-line.ts";
import { kindOfValue } from "../../src/cli/commands/completion/values.ts";
import { exportFormats } from "../../src/cli/commands/export/export-format.ts";
import { pathOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";

describe("a line of bash", () => {
  it.each([
    ["ledgerctl ", ["ledgerctl", ""], ""],
    ["ledgerctl entry po", ["ledgerctl", "entry", "po"], ""],
    ["ledgerctl balance 'Petty cash'", ["ledgerctl", "balance", "Petty cash"], ""],
    ['ledgerctl balance "Petty ca', ["ledgerctl", "balance", "Petty ca"], '"'],
    ["ledgerctl balance Petty\\ ca", ["ledgerctl", "balance", "Petty ca"], ""],
    ['a "x\\"y" \'b\\c\' ""', ["a", 'x"y', "b\\c", ""], ""],
    ["echo x | ledgerctl entry post ", ["ledgerctl", "entry", "post", ""], ""],
    ["ID=$(ledgerctl entry ", ["ledgerctl", "entry", ""], ""],
    ["cd books && ledgerctl ba", ["ledgerctl", "ba"], ""],
  ])("%j has words", (line, words, openQuote) => {
    expect(splitShellLine(line)).toEqual({ words, openQuote });
  });

  it.each([
    ["wallets:USD", "wallets:U", ":=", "", "USD"],
    ["wallets:USD", "wal", ":=", "", "wallets:USD"],
    ["wallets:USD", "wallets:U", " \t", "", "wallets:USD"],
    ["--period=2026-03", "--period=20", ":=", "", "2026-03"],
    ["Mar 2026", "M", ":=", "", "Mar\\ 2026"],
    ["Mar 2026", "M", ":=", '"', "Mar 2026"],
    ["a$(rm)`b`", "a", ":=", "", "a\\$\\(rm\\)\\`b\\`"],
  ])("takes %j for %j", (candidate, typed, wordBreaks, openQuote, expected) => {
    expect(forBash(candidate, typed, { openQuote, wordBreaks })).toBe(expected);
  });

  it.each(
    ["", "'", '"'].flatMap((openQuote) =>
      ["$(echo ran)", "`echo ran`", "it's", 'a"; echo ran; "b', "back\\slash\\", "!!", "a b\\"].map(
        (candidate) => [openQuote, candidate] as const,
      ),
    ),
  )("is read by bash behind %j as the very name %j", (openQuote, candidate) => {
    const word = `${openQuote}${forBash(candidate, "", { openQuote, wordBreaks: ":=" })}${openQuote}`;
    expect(execFileSync("bash", ["-c", `printf %s ${word}`], { encoding: "utf8" })).toBe(candidate);
    expect(splitShellLine(`ledgerctl balance ${word}`).words.at(-1)).toBe(candidate);
  });
});

describe("the position", () => {
  it.each([
    [[""], "ledgerctl", { kind: "command" }, "", ""],
    [["entry", "po"], "ledgerctl entry", { kind: "command" }, "po", ""],
    [["entry", "post", "--li"], "ledgerctl entry post", { kind: "flag" }, "--li", ""],
    [
      ["entry", "post", "--line", "10"],
      "ledgerctl entry post",
      { kind: "option", name: "--line" },
      "10",
      "",
    ],
    [
      ["entry", "list", "--account=1"],
      "ledgerctl entry list",
      { kind: "option", name: "--account" },
      "1",
      "--account=",
    ],
    [
      ["balance", "--json", "1"],
      "ledgerctl balance",
      { kind: "argument", name: "code", before: [] },
      "1",
      "",
    ],
    [["balance", "1000", ""], "ledgerctl balance", { kind: "nothing" }, "", ""],
    [
      ["wallet", "tail", "alice", "b"],
      "ledgerctl wallet tail",
      { kind: "argument", name: "key", before: ["alice"] },
      "b",
      "",
    ],
    [
      ["entry", "post", "--", "--x"],
      "ledgerctl entry post",
      { kind: "argument", name: "file", before: [] },
      "--x",
      "",
    ],
  ])("after %j", (words, path, wanted, typed, prefix) => {
    const { command, ...position } = findPosition(createProgram(), words);
    expect(pathOf(command)).toBe(path);
    expect(position).toMatchObject({ wanted, typed, prefix });
  });

  it("of a format has those of the command", () => {
    expect(kindOfValue("export", "--format")).toEqual(exportFormats);
    expect(kindOfValue("entry post", "--format")).toEqual(["csv", "json", "ndjson"]);
  });

  it("knows what was given before it", () => {
    const words = ["balance", "--ledger", "L", "--url=http://x", "--json", ""];
    expect([...findPosition(createProgram(), words).given]).toEqual([
      ["--ledger", "L"],
      ["--url", "http://x"],
      ["--json", ""],
    ]);
  });
});

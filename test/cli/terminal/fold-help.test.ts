// Help texts on terminals that are narrower than their paragraphs.
import { expect, test } from "vitest";
import { foldHelp } from "../../../src/cli/terminal/fold-help.ts";

const help = [
  "Usage: ledgerctl entry correct [options] <id>",
  "",
  "Options:",
  "  --date <date>     the date of the correction, in an open period; now unless given",
  "",
  "The correction is an entry of type ADJUSTING whose metadata has correctsJournalId. Post the",
  "entry as it should have been afterwards.",
  "",
  "Example:",
  '  $ ledgerctl entry correct "$ID" --reason "A sale that was not ours" --date 2026-03-15 --quiet',
].join("\n");

test("paragraphs are broken anew between words, and what is indented stays", () => {
  const lines = foldHelp(help, 60).split("\n");
  expect(lines.slice(5, 8)).toEqual([
    "The correction is an entry of type ADJUSTING whose metadata",
    "has correctsJournalId. Post the entry as it should have been",
    "afterwards.",
  ]);
  expect([...lines.slice(0, 5), ...lines.slice(8)]).toEqual([
    ...help.split("\n").slice(0, 5),
    ...help.split("\n").slice(7),
  ]);
});

test("nothing is broken where it fits, or where there is no terminal", () => {
  expect(foldHelp(help, 120)).toBe(help);
  expect(foldHelp(help, null)).toBe(help);
});

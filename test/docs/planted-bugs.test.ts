// docs/reliability.md lists the bugs that are planted, each with the rule that it breaks.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bugs } from "../simulation/planted/bugs.ts";
import { readTable } from "./markdown-table.ts";

const page = readFileSync(new URL("../../docs/reliability.md", import.meta.url), "utf8");

it("lists every planted bug with its rule", () => {
  const rows = readTable(page, ["planted bug", "rule", "histories until it is found"]);
  expect(rows.map(([name, rule]) => ({ name, rule }))).toEqual(
    bugs.map(({ name, rule }) => ({ name, rule })),
  );
});

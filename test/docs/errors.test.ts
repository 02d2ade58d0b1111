// docs/errors.md lists the refusals of the catalog: all of them, no others, in the same order.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { problemKinds } from "../../src/core/errors.ts";
import { readTable } from "./markdown-table.ts";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

it("lists every refusal of the catalog with its status, code and title, in order of precedence", () => {
  const rows = readTable(page, ["status", "code", "title", "when", "extra"]);
  const documented = rows.map(([status, code = "", title]) => ({
    status: Number(status),
    code: code === "" ? null : code.replace(/^`(.*)`$/, "$1"),
    title,
  }));
  expect(documented).toEqual(
    Object.values(problemKinds).map(({ status, code, title }) => ({ status, code, title })),
  );
});

it("says of every refusal when it is answered", () => {
  const rows = readTable(page, ["status", "code", "title", "when", "extra"]);
  for (const [, , title, when] of rows) expect(when, title).not.toBe("");
});

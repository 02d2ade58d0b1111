// The pages that say how many connections a process opens to its database say the number that it opens.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { connectionsPerProcess } from "../../src/server/pools.ts";

it.each([
  ["docs/cli.md", `Each worker has up to ${connectionsPerProcess} connections to the database`],
  ["docs/operations.md", `each worker opens at most ${connectionsPerProcess}`],
  ["README.md", `connections busy (at most ${connectionsPerProcess})`],
])("%s says how many connections a process opens", (file, sentence) => {
  const page = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  expect(page.replace(/\s+/g, " ")).toContain(sentence);
});

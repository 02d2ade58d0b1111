// The Node.js inside the single executable is one that is tested, and the one that docs/operations.md names.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const nodeVersion = /^const nodeVersion = "(.+)";$/m.exec(read("scripts/executable/build.js"))?.[1];

it("has a Node.js inside that continuous integration runs everything under", () => {
  const ci = read(".ci/run");
  expect(/^newer_nodes="(.+)"$/m.exec(ci)?.[1]?.split(" ")).toContain(nodeVersion);
  expect(/^executable_node=(.+)$/m.exec(ci)?.[1]).toBe(nodeVersion);
});

it("is described with the version of its Node.js", () => {
  const section = /^## The single executable\n(.*?)^## /ms.exec(read("docs/operations.md"))?.[1];
  expect(section).toContain(`Node.js ${nodeVersion ?? "?"}`);
});

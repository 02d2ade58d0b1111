// docs/cli.md has every command that there is, and its reference is what the tree of commands makes it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { expect, it } from "vitest";
import { isRunnable, pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { createProgram } from "../../src/cli/program.ts";
import { withReference } from "../../src/cli/definition/reference.ts";

const file = fileURLToPath(new URL("../../docs/cli.md", import.meta.url));
const page = readFileSync(file, "utf8");

it("has the reference that `npm run docs:cli` writes", async () => {
  const options = await resolveConfig(file);
  const expected = await format(withReference(page, createProgram()), {
    ...options,
    filepath: file,
  });
  expect(page).toBe(expected);
});

it("names every command in its table", () => {
  const [table = ""] = page.split("\n## ");
  const commands = shownCommandsOf(createProgram()).filter(isRunnable);
  expect(commands.length).toBeGreaterThan(40);
  for (const command of commands) expect(table).toContain(`\`${pathOf(command).slice(10)}\``);
});

it("is linked to where there is something", () => {
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  for (const [, anchor] of page.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
});

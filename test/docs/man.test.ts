// The manual page is what the tree of commands makes it, and man has nothing to say against it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { topics } from "../../src/cli/commands/help/topics.ts";
import { isRunnable, pathOf, shownCommandsOf } from "../../src/cli/definition/command-tree.ts";
import { manPage } from "../../src/cli/definition/man-page.ts";
import { createProgram } from "../../src/cli/program.ts";

const root = new URL("../../", import.meta.url);
const file = fileURLToPath(new URL("docs/man/ledgerctl.1", root));
const page = readFileSync(file, "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  version: string;
  man: string[];
};
const hasMan = spawnSync("man", ["--version"]).status === 0;

it("is what `npm run docs:cli` writes", () => {
  expect(page).toBe(manPage(createProgram(), topics, manifest.version));
});

it("is installed with the package", () => {
  expect(manifest.man).toEqual(["./docs/man/ledgerctl.1"]);
});

it.skipIf(!hasMan)("is shown by man with every command and option, and without a warning", () => {
  const { status, stdout, stderr } = spawnSync(
    "man",
    ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", file],
    {
      env: { ...process.env, MANWIDTH: "200", LC_ALL: "C.UTF-8", MANROFFOPT: "-c" },
    },
  );
  expect([status, stderr.toString()]).toEqual([0, ""]);
  // Bold and underlined text is struck twice.
  const shown = stdout
    .toString()
    .replace(/.\u0008/gu, "")
    .replace(/\s+/g, " ");
  for (const command of shownCommandsOf(createProgram()).filter(isRunnable)) {
    expect(shown).toContain(pathOf(command));
    for (const { flags } of command.options) expect(shown, flags).toContain(flags);
  }
  expect(shown).toContain("EXIT CODES");
});

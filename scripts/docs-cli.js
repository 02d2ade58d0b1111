// Writes the reference in docs/cli.md and the manual page anew from the tree of commands.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { importSource, root } from "./import-source.js";

const { createProgram, manPage, topics, withReference } = await importSource(`
  export { createProgram } from "./cli/program.ts";
  export { topics } from "./cli/commands/help/topics.ts";
  export { manPage } from "./cli/definition/man-page.ts";
  export { withReference } from "./cli/definition/reference.ts";`);
const page = join(root, "docs", "cli.md");
const text = withReference(readFileSync(page, "utf8"), createProgram());
const options = await resolveConfig(page);
writeFileSync(page, await format(text, { ...options, filepath: page }));

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
mkdirSync(join(root, "docs", "man"), { recursive: true });
writeFileSync(join(root, "docs", "man", "ledgerctl.1"), manPage(createProgram(), topics, version));

// Writes the reference in docs/cli.md anew from the tree of commands.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { importSource, root } from "./import-source.js";

const { createProgram, withReference } = await importSource(`
  export { createProgram } from "./cli/program.ts";
  export { withReference } from "./cli/definition/reference.ts";`);
const page = join(root, "docs", "cli.md");
const text = withReference(readFileSync(page, "utf8"), createProgram());
const options = await resolveConfig(page);
writeFileSync(page, await format(text, { ...options, filepath: page }));

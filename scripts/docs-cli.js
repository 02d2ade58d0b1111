// Writes the reference in docs/cli.md anew from the tree of commands.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { format, resolveConfig } from "prettier";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(root, "docs", "cli.md");

// Within the project, so that packages are found and the program's version, two folders up from src/cli.
const folder = mkdtempSync(join(root, "src", ".docs-cli-"));
try {
  const outfile = join(folder, "tree.mjs");
  await build({
    stdin: {
      contents:
        'export { createProgram } from "./program.ts"; export { withReference } from "./definition/reference.ts";',
      resolveDir: join(root, "src", "cli"),
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  const { createProgram, withReference } = await import(pathToFileURL(outfile).href);
  const text = withReference(readFileSync(page, "utf8"), createProgram());
  const options = await resolveConfig(page);
  writeFileSync(page, await format(text, { ...options, filepath: page }));
} finally {
  rmSync(folder, { recursive: true });
}

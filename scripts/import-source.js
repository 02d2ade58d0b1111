// Imports TypeScript of src/ into a script, without a build.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/** The checkout that these scripts belong to. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** Resolves with what `contents` exports, a module that may import from `./`, which is src/. */
export async function importSource(contents) {
  mkdirSync(join(root, "dist"), { recursive: true });
  // Within the project, so that packages are found.
  const folder = mkdtempSync(join(root, "dist", ".import-"));
  try {
    const outfile = join(folder, "bundle.mjs");
    await build({
      stdin: { contents, resolveDir: join(root, "src") },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "warning",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

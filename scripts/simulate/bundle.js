// Bundles the simulation with the engine's source: ids come from the seed, and where one is named, a bug is planted.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../import-source.js";

const newId = join(root, "src/engine/new-id.ts");

/** What paths are asked about: each question is a message to another process. */
const fileFilter = (file) => new RegExp(`${file.replaceAll(".", "\\.")}$`);

/** Ids come from the seed too. */
const seededIds = {
  name: "seeded-ids",
  setup(build) {
    build.onLoad({ filter: fileFilter("new-id.ts") }, ({ path }) =>
      path === newId
        ? {
            contents: `export { newId } from "../../test/simulation/world/simulated-time.ts";`,
            loader: "ts",
          }
        : undefined,
    );
  },
};

/** Plants a bug in the source. */
function planted({ name, file, changes }) {
  return {
    name: "planted-bug",
    setup(build) {
      build.onLoad({ filter: fileFilter(file) }, async ({ path }) => {
        if (path !== join(root, file)) return undefined;
        let contents = await readFile(path, "utf8");
        for (const [from, to] of changes) {
          if (contents.split(from).length !== 2) {
            throw new Error(
              `"${name}" changes a text that ${file} does not have exactly once: ${from}`,
            );
          }
          contents = contents.replace(from, () => to);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}

/** Writes the simulation to a file, with a bug of test/simulation/planted/bugs.ts in it, or null. */
export function bundle(outfile, bug) {
  return build({
    absWorkingDir: root,
    entryPoints: ["test/simulation/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    packages: "external",
    logLevel: "warning",
    plugins: bug === null ? [seededIds] : [seededIds, planted(bug)],
  });
}

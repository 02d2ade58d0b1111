// `npm run simulate`: bundles the simulation with the engine's source, and runs it in a process that it has for itself:
// time is simulated in it. `--planted` does so once for each planted bug, to see in how many histories it is found;
// `--bug NAME` plants one of them. Other options are of test/simulation/main.ts.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { parseArgs } from "node:util";
import { importSource, root } from "./import-source.js";

const { bugs } = await importSource('export * from "../test/simulation/planted/bugs.ts";');
const newId = join(root, "src/engine/new-id.ts");

/** Ids come from the seed too. */
const seededIds = {
  name: "seeded-ids",
  setup(build) {
    build.onLoad({ filter: /new-id\.ts$/ }, ({ path }) =>
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
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
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

function bundle(outfile, plugins) {
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
    plugins,
  });
}

/** The verdict of a simulation with a bug in it. */
async function verdict(folder, bug, args) {
  const outfile = join(folder, "planted.mjs");
  await bundle(outfile, [seededIds, planted(bug)]);
  return new Promise((resolve) => {
    execFile(process.execPath, [outfile, "--quiet", ...args], (error, stdout, stderr) => {
      resolve({ isFound: error !== null && stdout.includes("fails"), told: stdout + stderr });
    });
  });
}

async function findPlanted(folder, args) {
  let missed = 0;
  for (const bug of bugs) {
    const { isFound, told } = await verdict(folder, bug, args);
    if (!isFound) missed += 1;
    const [, histories, rule] = /history (\d+) of \d+: (.*)/.exec(told) ?? [];
    const outcome = isFound ? `found in ${histories} histories (${rule})` : `NOT FOUND: ${told}`;
    process.stdout.write(`${bug.name}: ${outcome}\n`);
  }
  return missed === 0 ? 0 : 1;
}

async function simulate(folder, args, bug) {
  const outfile = join(folder, "main.mjs");
  await bundle(outfile, bug === undefined ? [seededIds] : [seededIds, planted(bug)]);
  const child = spawn(process.execPath, [outfile, ...args], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

function findBug(name) {
  const bug = bugs.find((each) => each.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`no planted bug is called "${name}"; test/simulation/planted/bugs.ts has them`);
}

const { values, tokens } = parseArgs({
  options: { planted: { type: "boolean" }, bug: { type: "string" } },
  strict: false,
  tokens: true,
});
const own = new Set(
  tokens.flatMap(({ kind, name, index, inlineValue }) => {
    if (kind !== "option" || !["planted", "bug"].includes(name)) return [];
    return name === "bug" && !inlineValue ? [index, index + 1] : [index];
  }),
);
const args = process.argv.slice(2).filter((_, index) => !own.has(index));
// Beside node_modules, where what is not bundled is found.
const folder = await mkdtemp(join(root, "node_modules", ".simulation-"));
try {
  process.exitCode = values.planted
    ? await findPlanted(folder, args)
    : await simulate(folder, args, values.bug && findBug(values.bug));
} finally {
  await rm(folder, { recursive: true });
}

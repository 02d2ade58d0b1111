// What a command loads before it does anything: nothing heavy where it is not needed. Counted in packages, since
// milliseconds depend on the machine.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The packages that importing a source file loads at once; what it imports while running is not among them. */
async function packagesLoadedBy(entryPoint: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    outdir: "dist",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    external: ["pg-native", "cloudflare:sockets", "react-devtools-core"],
    metafile: true,
    logLevel: "silent",
  });
  const { outputs } = metafile;
  const waiting = Object.keys(outputs).filter((name) => outputs[name]?.entryPoint === entryPoint);
  const loaded = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    loaded.add(name);
    for (const { path, kind } of outputs[name]?.imports ?? []) {
      if (kind === "import-statement" && path in outputs && !loaded.has(path)) waiting.push(path);
    }
  }
  const packages = [...loaded]
    .flatMap((name) => Object.keys(outputs[name]?.inputs ?? {}))
    .flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
  return [...new Set(packages)].sort();
}

it("loads the tree of commands with commander alone", async () => {
  expect(await packagesLoadedBy("src/cli/main.ts")).toEqual(["commander"]);
});

it.each(
  [
    "sign/sign",
    "config/set",
    "config/list",
    "profile/list",
    "profile/show",
    "profile/use",
    "completion/complete",
    "help/help",
  ].map((name) => `src/cli/commands/${name}.ts`),
)("loads %s with no package", async (entryPoint) => {
  expect(await packagesLoadedBy(entryPoint)).toEqual([]);
});

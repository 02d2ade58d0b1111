// The examples of docs/client.md are compiled and run as they stand, against a real server, and use all that the package exports.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { compile, installPackage } from "../support/installed-package.ts";
import type { InstalledPackage } from "../support/installed-package.ts";
import type { Credentials } from "../support/signed-request.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/client.md", import.meta.url)), "utf8");

const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);

/** The first makes the client that the others import. */
const names = blocks.map((_, index) => (index === 0 ? "client" : `example-${index}`));
const sources = names.map((name) => `${name}.ts`);

let server: BinaryServer;
let installed: InstalledPackage;
/** Of every scope. */
let key: Credentials;

beforeAll(async () => {
  installed = installPackage(["@types/node", "undici-types"]);
  for (const [index, code] of blocks.entries()) {
    writeFileSync(join(installed.project, `${names[index] ?? ""}.ts`), code);
  }
  server = await startBinaryServer({ LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64") });
  key = await server.books.createKey({ scopes });
});

afterAll(async () => {
  await server.stop();
  installed.remove();
});

// With one compiler: test/acceptance/package.test.ts has both read all types.
it("compile", () => {
  const flags = ["--types", "node", "--rewriteRelativeImportExtensions", "--outDir", "."];
  expect(compile("typescript7", installed.project, sources, flags)).toBe("");
}, 180_000);

it.each(names.slice(1))("%s runs", (name) => {
  const { project } = installed;
  const env = {
    ...server.env,
    LEDGERCTL_API_KEY: key.apiKey,
    LEDGERCTL_API_SECRET: key.apiSecret,
    PATH: process.env["PATH"] ?? "",
  };
  const output = execFileSync(process.execPath, [join(project, `${name}.js`)], {
    cwd: project,
    env,
  });
  expect(output.toString()).not.toBe("");
});

it("use every name that the package exports, and every method of the client", () => {
  const types = join(installed.folder, "dist", "types");
  const read = (file: string) => readFileSync(join(types, file), "utf8");
  const client = read("client/ledger-client.d.ts");
  const listed = [client, read("contract/types.d.ts")].flatMap((text) =>
    [...text.matchAll(/^export (?:type )?\{(.*)\}/gm)].flatMap(([, list = ""]) => list.split(",")),
  );
  const declared = [client, read("contract/types.d.ts")].flatMap((text) =>
    [...text.matchAll(/^export (?:declare )?(?:class|interface|type) (\w+)/gm)].map(
      ([, n = ""]) => n,
    ),
  );
  const exported = [...listed.map((name) => name.trim().replace(/^type /, "")), ...declared];
  expect(exported.length).toBeGreaterThan(45);
  const imported = [
    ...blocks.join("\n").matchAll(/^import (?:type )?\{([^}]*)\} from "ledgerctl";$/gm),
  ]
    .flatMap(([, list = ""]) => list.split(","))
    .map((name) => name.trim().replace(/^type /, ""));
  expect(exported.filter((name) => !imported.includes(name))).toEqual([]);
  const methods = [
    ...client.matchAll(/^ {4}(\w+)\(.*\): Promise<|^ {4}(streamWallet|followEntries)\(/gm),
  ].map(([, method, stream]) => method ?? stream ?? "");
  expect(methods.length).toBeGreaterThan(20);
  const unused = methods.filter((method) => !blocks.join("\n").includes(`client.${method}(`));
  expect(unused).toEqual([]);
});

// The programs of examples/ are compiled as their readers would, and run against a real server, twice where they can be.
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { compile, installPackage, type InstalledPackage } from "../support/installed-package.ts";

const folder = fileURLToPath(new URL("../../examples", import.meta.url));
const sources = readdirSync(folder).filter((file) => file.endsWith(".ts"));

/** What each prints at the end, in its last line but one or two. */
const said: Readonly<Record<string, RegExp>> = {
  "game-economy.ts": /ada 100, bo 25, cy 85\n.*cy, change 2: 85 gems\n$/s,
  "payroll.ts": /2024-03 is closed: publish [0-9a-f]{64}\nbo's payslip is proven in \d+ steps/,
  "shop.ts": /the payment provider owes 6214 cents\n$/,
};

let server: BinaryServer;
let installed: InstalledPackage;
let env: Record<string, string>;

beforeAll(async () => {
  installed = installPackage(["@types/node", "undici-types"]);
  for (const source of sources) copyFileSync(join(folder, source), join(installed.project, source));
  server = await startBinaryServer();
  const { apiKey, apiSecret } = await server.books.createKey({ scopes });
  env = {
    ...server.env,
    LEDGERCTL_API_KEY: apiKey,
    LEDGERCTL_API_SECRET: apiSecret,
    PATH: process.env["PATH"] ?? "",
  };
});

afterAll(async () => {
  await server.stop();
  installed.remove();
});

it("compile under strict, with nothing but the package", () => {
  expect(sources.sort()).toEqual(Object.keys(said));
  const flags = ["--types", "node", "--rewriteRelativeImportExtensions", "--outDir", "."];
  expect(compile("typescript7", installed.project, sources, flags)).toBe("");
}, 180_000);

it.each(sources)("%s does what it says, and does it again without harm", (source) => {
  const program = join(installed.project, source.replace(/\.ts$/, ".js"));
  for (const time of ["once", "again"]) {
    const output = execFileSync(process.execPath, [program], { cwd: installed.project, env });
    expect(output.toString(), time).toMatch(said[source] ?? /^$/);
  }
});

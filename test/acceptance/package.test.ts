// The package as somebody else installs it: what is packed runs, and its export has types.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, compilers, installPackage } from "../support/installed-package.ts";
import type { InstalledPackage } from "../support/installed-package.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let installed: InstalledPackage;

beforeAll(() => {
  installed = installPackage();
});

afterAll(() => {
  installed.remove();
});

describe("the package", () => {
  it("runs its binary without the packages that it was built with", () => {
    const version = execFileSync(process.execPath, [
      join(installed.folder, "bin", "ledgerctl.js"),
      "--version",
    ]);
    expect(version.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("exports a client that runs by itself", () => {
    const { project } = installed;
    writeFileSync(
      join(project, "use.js"),
      `import { LedgerClient, ServiceUnreachable } from "ledgerctl";
       const client = new LedgerClient({ url: "http://127.0.0.1:1", apiKey: "lk_x", apiSecret: "ls_x", retryForMs: 0 });
       try { await client.listLedgers(); } catch (error) { console.log(error instanceof ServiceUnreachable); }
       await client.close();`,
    );
    const output = execFileSync(process.execPath, [join(project, "use.js")], { cwd: project });
    expect(output.toString()).toBe("true\n");
  });

  it.each(compilers)(
    "has types that need no other package, and refuse a misuse, with %s",
    (name) => {
      const { project } = installed;
      writeFileSync(
        join(project, "use.ts"),
        `import { LedgerClient, type Entry } from "ledgerctl";
         declare const client: LedgerClient;
         const balance: bigint = (await client.getBalance("x", { account: "1000" })).balance;
         const misused: string = (await client.getBalance("x", { account: "1000" })).balance;
         const entry: Entry = await client.getEntry("x", "y");
         const wallet = { ledgerId: "x", callerKey: "alice" };
         const hold = await client.reserveFunds(wallet, { amount: "1", assetCode: "USD" });
         await client.commitHold(wallet, hold.holdId);
         console.log(balance, misused, entry.lines.length);`,
      );
      // The one misuse, and nothing else.
      expect(compile(name, project, ["use.ts"])).toMatch(/^use\.ts\(4,\d+\): error TS2322: .*\n$/);
    },
  );

  it("writes out the very types that the schemas have", () => {
    const source = join(root, "src", "contract", "types.ts");
    const text = readFileSync(source, "utf8");
    const names = [...text.matchAll(/^export type (\w+) = (?:Reply|Body)</gm)].map(([, n]) => n);
    expect(names.length).toBeGreaterThan(30);
    const written = join(root, "dist", "types", "contract", "types.d.ts");
    const file = join(installed.project, "same.ts");
    writeFileSync(
      file,
      `import type * as Source from ${JSON.stringify(source)};
       import type * as Written from ${JSON.stringify(written)};
       type Extends<A, B> = [A] extends [B] ? true : false;
       ${names
         .flatMap((name = "") => [
           `export const to${name}: Extends<Source.${name}, Written.${name}> = true;`,
           `export const from${name}: Extends<Written.${name}, Source.${name}> = true;`,
         ])
         .join("\n")}`,
    );
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
    const flags = [
      "--noEmit",
      "--allowImportingTsExtensions",
      "--skipLibCheck",
      "true",
      "--target",
      "es2024",
      ...types,
    ];
    expect(compile("typescript7", installed.project, [file], flags)).toBe("");
  });
});

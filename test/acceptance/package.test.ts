// The package as somebody else installs it: what is packed runs, and its export has types.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let consumer: string;
let installed: string;

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), "ledgerctl-consumer-"));
  installed = join(consumer, "node_modules", "ledgerctl");
  mkdirSync(installed, { recursive: true });
  const tarball = execFileSync(
    "npm",
    ["pack", "--ignore-scripts", "--silent", "--pack-destination", consumer],
    { cwd: root },
  );
  execFileSync("tar", [
    "-xzf",
    join(consumer, tarball.toString().trim()),
    "-C",
    installed,
    "--strip-components=1",
  ]);
  writeFileSync(join(consumer, "package.json"), '{"type":"module"}');
});

afterAll(() => {
  rmSync(consumer, { recursive: true, force: true });
});

describe("the package", () => {
  it("runs its binary without the packages that it was built with", () => {
    const version = execFileSync(process.execPath, [
      join(installed, "bin", "ledgerctl.js"),
      "--version",
    ]);
    expect(version.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("exports a client that runs by itself", () => {
    writeFileSync(
      join(consumer, "use.js"),
      `import { LedgerClient, ServiceUnreachable } from "ledgerctl";
       const client = new LedgerClient({ url: "http://127.0.0.1:1", apiKey: "lk_x", apiSecret: "ls_x", retryForMs: 0 });
       try { await client.listLedgers(); } catch (error) { console.log(error instanceof ServiceUnreachable); }
       await client.close();`,
    );
    const output = execFileSync(process.execPath, [join(consumer, "use.js")], { cwd: consumer });
    expect(output.toString()).toBe("true\n");
  });

  it("exports types that a strict consumer compiles against, and that refuse a misuse", () => {
    // Only Node's own types are the consumer's to bring.
    mkdirSync(join(consumer, "node_modules", "@types"), { recursive: true });
    for (const name of ["@types/node", "undici-types"]) {
      symlinkSync(join(root, "node_modules", name), join(consumer, "node_modules", name));
    }
    const source = join(consumer, "use.ts");
    const compile = (text: string): string => {
      writeFileSync(source, text);
      try {
        const flags = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023"];
        return execFileSync(
          process.execPath,
          [
            join(root, "node_modules", "typescript", "bin", "tsc"),
            ...flags,
            "--types",
            "node",
            source,
          ],
          { cwd: consumer },
        ).toString();
      } catch (error) {
        return (error as { stdout: Buffer }).stdout.toString();
      }
    };
    const use = (balance: string) => `import { LedgerClient, type Entry } from "ledgerctl";
      declare const client: LedgerClient;
      const balance: ${balance} = (await client.getBalance("x", { account: "1000" })).balance;
      const entry: Entry = await client.getEntry("x", "y");
      console.log(balance, entry.lines.length);`;
    expect(compile(use("bigint"))).toBe("");
    expect(compile(use("string"))).toContain("TS2322");
  });
});

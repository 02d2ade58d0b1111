// The single executable: where it puts PostgreSQL's programs, for an ordinary user and for root, and what it says where it
// can't put anything. Continuous integration builds it and names it in LEDGERCTL_TEST_PROGRAM.
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmptyDatabase } from "../support/database.ts";
import { executable } from "../support/server-process.ts";

const isRoot = process.getuid?.() === 0;
const programs = /^postgresql-\d+\..+-[0-9a-f]{12}$/;

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-executable-"));
  chmodSync(home, 0o755);
});

afterAll(() => {
  rmSync(home, { recursive: true });
});

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** What the executable is run under. */
  readonly under?: readonly string[];
}

/** Runs the executable with nothing in its environment but a home: there is no Node.js, and no PATH to find one. */
function run(args: readonly string[], { env, user, under = [] }: Options = {}) {
  const [file = "", ...rest] = [...under, executable ?? "", ...args];
  const child = spawn(file, rest, {
    cwd: "/",
    env: { HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
  let output = "";
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, output });
    });
  });
}

const createOrganization = (dataDir: string) => ["org", "create", "A", "--data-dir", dataDir];

describe.runIf(executable !== undefined)("the single executable", () => {
  it("has the files that it brings in the data folder, once, whoever starts first", async () => {
    const user = isRoot ? { uid: 65534, gid: 65534 } : undefined;
    const own = join(home, "own");
    mkdirSync(own);
    if (user) chownSync(own, user.uid, user.gid);
    const dataDir = join(own, "data");
    const options = { env: { HOME: own }, ...(user && { user }) };
    const start = () => run(createOrganization(dataDir), options);
    const ends = await Promise.all([start(), start(), start()]);
    for (const { code, output } of ends) expect(code, output).toBe(0);
    const unpacked = () => readdirSync(dataDir).filter((name) => name.startsWith("postgresql-"));
    const [name = ""] = unpacked();
    expect(name).toMatch(programs);
    const { ino } = statSync(join(dataDir, name));
    expect((await start()).code).toBe(0);
    expect(unpacked()).toEqual([name]);
    expect(statSync(join(dataDir, name)).ino).toBe(ino);
    expect(readdirSync(dataDir).filter((each) => each.startsWith(".ledgerctl-new"))).toEqual([]);
  });

  it("is started by its name, through a link, with the options for Node.js that the program has elsewhere", async () => {
    const bin = join(home, "bin");
    mkdirSync(bin);
    symlinkSync(executable ?? "", join(bin, "ledgerctl"));
    const hook = join(home, "hook.cjs");
    writeFileSync(hook, "process.on('exit', () => console.log(process.execArgv.join()));");
    const started = await run(["--version"], {
      env: { NODE_OPTIONS: `--require ${hook}` },
      under: ["/usr/bin/env", `PATH=${bin}`, "ledgerctl"],
    });
    expect(started.output).toMatch(/^\d+\.\d+\.\d+\n--max-semi-space-size=64\n$/);
  });

  it("says what to do where a schema has to be made and nothing can be written", async () => {
    const database = await createEmptyDatabase();
    const env = { LEDGERCTL_DATABASE_URL: database.url };
    const refused = await run(["migrate"], { env: { ...env, TMPDIR: "/dev/null/none" } });
    expect(refused.code).toBe(7);
    expect(refused.output).toContain("Set TMPDIR to a directory that this user can write to.");
    expect((await run(["migrate"], { env })).code).toBe(0);
    // Where there is nothing to do, nothing is written.
    expect((await run(["migrate"], { env: { ...env, TMPDIR: "/dev/null/none" } })).code).toBe(0);
    await database.drop();
  });
});

describe.runIf(executable !== undefined && isRoot)("the single executable, started as root", () => {
  it("has them where the database's user can reach them, and that root alone can change", async () => {
    const dataDir = join(home, "roots");
    expect((await run(createOrganization(dataDir))).code).toBe(0);
    expect(readdirSync(dataDir).filter((name) => name.startsWith("postgresql-"))).toEqual([]);
    const shared = "/var/lib/ledgerctl";
    const found = readdirSync(shared).filter((name) => programs.test(name));
    expect(found.length).toBeGreaterThan(0);
    for (const name of found) {
      const { mode, uid } = statSync(join(shared, name, "bin", "postgres"));
      expect([mode & 0o7777, uid]).toEqual([0o755, 0]);
    }
  });

  it("says that the folder for them is read-only, and what helps", async () => {
    const mount = 'mount -t tmpfs -o ro tmpfs /var/lib/ledgerctl && exec "$@"';
    const under = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", mount, "sh"];
    const { code, output } = await run(createOrganization(join(home, "other")), { under });
    expect(code).toBe(7);
    expect(output).toContain(
      "PostgreSQL's programs cannot be written to /var/lib/ledgerctl: the file system is read-only",
    );
    expect(output).toContain("Start as an ordinary user, who has them in the data folder");
  });
});

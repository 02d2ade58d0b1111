// `backup` and `restore` as an operator runs them: into files and pipes, from one kind of database into another.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isCluster } from "../support/cluster.ts";
import { runCli, startCli, type CliResult } from "../support/cli.ts";
import {
  createEmptyDatabase,
  createTestDatabase,
  runStatement,
  type TestDatabase,
} from "../support/database.ts";
import { python } from "../support/python.ts";
import { programCommand, startServerProcess } from "../support/server-process.ts";
import { readTables } from "../support/table-contents.ts";
import { until } from "../support/until.ts";

interface Backup {
  file: string;
  bytes: number;
  tables: { name: string; rows: number; sha256: string }[];
  migrations: string[];
  takenAt: string;
}

interface Restored extends Backup {
  audit: { ok: boolean; checks: object[] } | null;
}

const mayMount = process.platform === "linux" && process.getuid?.() === 0;
const home = mkdtempSync(join(tmpdir(), "ledgerctl-backup-"));
const masterKey = randomBytes(32).toString("base64");
const file = join(home, "books.backup");
/** Has the books of `seed`. */
let source: TestDatabase;
let seeded: { ledgerId: string; apiKey: string; apiSecret: string };
const databases: TestDatabase[] = [];

/** In the environment of a database by its URL. */
const run = (url: string, ...args: string[]): Promise<CliResult> =>
  runCli(args, { env: environmentOf(url) });

const environmentOf = (url: string) => ({
  HOME: home,
  LEDGERCTL_DATABASE_URL: url,
  LEDGERCTL_MASTER_KEY: masterKey,
});

/** In the folder of an embedded database, without a master key in the environment. */
const runIn = (dataDir: string, ...args: string[]): Promise<CliResult> =>
  runCli([...args, "--data-dir", dataDir], { env: { HOME: home } });

async function emptyDatabase(): Promise<string> {
  const database = await createEmptyDatabase();
  databases.push(database);
  return database.url;
}

beforeAll(async () => {
  // As root, PostgreSQL runs as another user, who has to reach the folders in it.
  chmodSync(home, 0o755);
  source = await createTestDatabase();
  databases.push(source);
  const made = await run(source.url, "seed", "--entries", "200", "--json");
  expect(made.code, made.stderr).toBe(0);
  seeded = JSON.parse(made.stdout) as typeof seeded;
});

afterAll(async () => {
  for (const database of databases) await database.drop();
  rmSync(home, { recursive: true });
});

// Everything here is about backups, which are of one server: on Citus the command refuses.
describe.skipIf(isCluster)("backup and restore", () => {
  it("take a database into an embedded one, and back: every row, under a key that goes along", async () => {
    const contents = await readTables(source.url, "backups");
    const taken = await run(source.url, "backup", file, "--with-secrets", "--json");
    expect(taken).toMatchObject({ code: 0, stderr: "" });
    const backup = JSON.parse(taken.stdout) as Backup;
    const entries = backup.tables.find(({ name }) => name === "journal_entries");
    expect(entries?.rows).toBe(200);
    expect(backup).toMatchObject({ file, bytes: statSync(file).size });
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const dataDir = join(home, "restored");
    const restored = await runIn(dataDir, "restore", file, "--json");
    expect(restored.code, restored.stderr).toBe(0);
    const { audit, ...same } = JSON.parse(restored.stdout) as Restored;
    expect(same).toEqual(backup);
    expect(audit?.ok).toBe(true);
    expect(readFileSync(join(dataDir, "master-key"), "utf8").trim()).toBe(masterKey);

    const server = await startServerProcess({
      args: ["--port", "0", "--data-dir", dataDir],
      env: { HOME: home, XDG_CONFIG_HOME: join(home, "server") },
    });
    const credentials = {
      LEDGERCTL_URL: server.url,
      LEDGERCTL_API_KEY: seeded.apiKey,
      LEDGERCTL_API_SECRET: seeded.apiSecret,
      LEDGERCTL_LEDGER: seeded.ledgerId,
    };
    const balance = await runCli(["trial-balance", "--json"], {
      env: { HOME: home, ...credentials },
    });
    expect(balance.code, balance.stderr).toBe(0);

    const back = await emptyDatabase();
    const again = await runIn(dataDir, "backup", join(home, "again.backup"), "--json");
    expect(await server.end("SIGTERM")).toBe(0);
    expect(again.code, again.stderr).toBe(0);
    const returned = await run(back, "restore", join(home, "again.backup"), "--quiet");
    expect(returned.code, returned.stderr).toBe(0);
    expect(await readTables(back, "backups")).toEqual(contents);
  });

  it("go through pipes, and `doctor` tells when the last backup was taken", async () => {
    const target = await emptyDatabase();
    // What a server that was started too early leaves in it is in nobody's way.
    const early = await startServerProcess({ args: ["--port", "0"], env: environmentOf(target) });
    expect(await early.end("SIGTERM")).toBe(0);
    const pipe =
      '"$@" backup - --json 2>"$HOME/said" | LEDGERCTL_DATABASE_URL="$TARGET" "$@" restore - --no-audit';
    const child = spawn("bash", ["-o", "pipefail", "-c", pipe, "bash", ...programCommand], {
      env: { PATH: process.env["PATH"], TARGET: target, ...environmentOf(source.url) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(0);
    const { takenAt } = JSON.parse(readFileSync(join(home, "said"), "utf8")) as Backup;
    expect(said).toContain(
      `rows of ${Object.keys(await readTables(target)).length + 2} tables restored, as of ${takenAt}`,
    );
    expect(await runStatement(target, "SELECT FROM journal_entries")).toBe(200);
    expect((await run(source.url, "doctor")).stdout).toContain(
      `the last one was taken at ${takenAt}`,
    );
  });

  it("leave the master key out unless asked: without it the server says what is missing, and new keys can be made", async () => {
    const plain = join(home, "plain.backup");
    expect((await run(source.url, "backup", plain)).code).toBe(0);
    const dataDir = join(home, "keyless");
    const restored = await runIn(dataDir, "restore", plain);
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stderr).toContain("The backup has no master key. Copy master-key");
    expect(existsSync(join(dataDir, "master-key"))).toBe(false);
    const refused = await runIn(dataDir, "serve", "--port", "0");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("the master key is missing");
    // The way that docs/operations.md names where the old key is lost.
    expect((await runIn(dataDir, "key", "revoke", seeded.apiKey)).code).toBe(0);
    writeFileSync(join(dataDir, "master-key"), randomBytes(32).toString("base64"), { mode: 0o600 });
    const organizationId = (await runIn(dataDir, "org", "list", "--quiet")).stdout.trim();
    const made = await runIn(dataDir, "key", "create", "--org", organizationId, "--json");
    expect(made.code, made.stderr).toBe(0);
    expect((await runIn(dataDir, "audit", "--quiet")).code).toBe(0);
  });

  it("refuse --with-secrets where there is no master key to be had", async () => {
    const { url } = source;
    const refused = await runCli(["backup", join(home, "no.backup"), "--with-secrets"], {
      env: { HOME: home, LEDGERCTL_DATABASE_URL: url },
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("LEDGERCTL_MASTER_KEY is not set");
    expect(existsSync(join(home, "no.backup"))).toBe(false);
  });
});

describe.skipIf(isCluster)("restore", () => {
  it("says of an auditor's file which command checks it", async () => {
    const bundle = join(home, "bundle.ndjson");
    writeFileSync(bundle, '{"kind":"close","format":"ledgerctl-bundle-v1","close":{}}\n');
    const refused = await runIn(join(home, "none"), "restore", bundle);
    expect([refused.code, refused.stderr]).toEqual([
      3,
      `ledgerctl: ${bundle} is no backup but a bundle: \`ledgerctl merkle verify --bundle\` checks it. ` +
        "Nothing was restored\n",
    ]);
  });

  it("refuses a damaged or truncated file with exit code 3, and makes no database", async () => {
    const bytes = readFileSync(file);
    const dataDir = join(home, "never");
    const flipped = Buffer.from(bytes);
    flipped[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 4;
    for (const damaged of [
      flipped,
      bytes.subarray(0, bytes.length - 1),
      Buffer.alloc(0),
      Buffer.from("no backup"),
    ]) {
      writeFileSync(join(home, "damaged"), damaged);
      const refused = await runIn(dataDir, "restore", join(home, "damaged"));
      expect(refused).toMatchObject({ code: 3, stdout: "" });
      expect(refused.stderr).toContain("Nothing was restored");
    }
    const { child, result } = startCli(["restore", "-", "--data-dir", dataDir], {
      env: { HOME: home },
    });
    child.stdin?.end(bytes.subarray(0, 1000));
    expect(await result).toMatchObject({ code: 3, stdout: "" });
    expect(existsSync(dataDir)).toBe(false);
  });

  it("refuses a database with rows with exit code 6, and a file that is not there with 2", async () => {
    const before = await readTables(source.url);
    const refused = await run(source.url, "restore", file);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain("the database is not empty");
    expect(await readTables(source.url)).toEqual(before);
    const missing = await run(source.url, "restore", join(home, "nowhere"));
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("there is no such file");
  });

  it("ends with exit code 3 where the audit finds something", async () => {
    const tampered = await createTestDatabase();
    databases.push(tampered);
    const restored = await run(tampered.url, "restore", file, "--no-audit");
    expect(restored.code, restored.stderr).toBe(0);
    await runStatement(
      tampered.url,
      "UPDATE account_balances SET balance = balance + 1 WHERE currency = ''",
    );
    const wrong = join(home, "wrong.backup");
    expect((await run(tampered.url, "backup", wrong)).code).toBe(0);
    const found = await run(await emptyDatabase(), "restore", wrong);
    expect(found.code).toBe(3);
    expect(found.stdout).toContain("MISMATCH  balances");
  });
});

describe.skipIf(isCluster)("restore, of rows that the database refuses,", () => {
  it("names their table, restores nothing and ends with exit code 3", async () => {
    const tampered = await createTestDatabase();
    databases.push(tampered);
    await runStatement(
      tampered.url,
      "ALTER TABLE account_balances DROP CONSTRAINT account_balances_pkey",
    );
    await runStatement(
      tampered.url,
      `INSERT INTO account_balances
       SELECT '00000000-0000-0000-0000-000000000001', '1000', 'USD', 1, 1 FROM generate_series(1, 2)`,
    );
    const doubled = join(home, "doubled.backup");
    expect((await run(tampered.url, "backup", doubled)).code).toBe(0);
    const target = await emptyDatabase();
    const refused = await run(target, "restore", doubled);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain(`${doubled} can't be restored`);
    expect(refused.stderr).toContain("its table account_balances");
    expect(refused.stderr).toContain("Nothing was restored");
    expect(await runStatement(target, "SELECT FROM account_balances")).toBe(0);
  });
});

describe.skipIf(isCluster)("interruptions", () => {
  let large: TestDatabase;
  const largeFile = join(home, "large.backup");

  /** 120,000 rows of a kilobyte: more than the programs may have in memory. */
  beforeAll(async () => {
    large = await createTestDatabase();
    databases.push(large);
    await runStatement(
      large.url,
      `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, metadata, at)
       SELECT '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', n, 'credit', 1, n, 0,
              repeat('x', 1000), now()
         FROM generate_series(1, 120000) AS n`,
    );
    expect((await run(large.url, "backup", largeFile, "--quiet")).code).toBe(0);
  });

  it("need no more memory for a large database than for a small one", async () => {
    const measure = (url: string, ...args: string[]) =>
      JSON.parse(
        execFileSync(python, ["-c", peakMemory, ...programCommand, ...args], {
          env: { PATH: process.env["PATH"], ...environmentOf(url) },
          stdio: ["ignore", "pipe", "inherit"],
        }).toString(),
      ) as { code: number; megabytes: number };
    const target = await emptyDatabase();
    const small = measure(source.url, "backup", join(home, "small.backup"), "--quiet");
    const backup = measure(large.url, "backup", join(home, "again-large.backup"), "--quiet");
    const restore = measure(target, "restore", largeFile, "--no-audit", "--quiet");
    expect([small.code, backup.code, restore.code]).toEqual([0, 0, 0]);
    // The rows have 120. New objects have more space under some versions of Node.js and options than under others.
    expect(backup.megabytes).toBeLessThan(small.megabytes + 90);
    expect(restore.megabytes).toBeLessThan(small.megabytes + 90);
    expect(await runStatement(target, "SELECT FROM wallet_writes WHERE seq = 120000")).toBe(1);
  });

  it("of a backup leave what had its name before, and nothing else", async () => {
    const folder = mkdtempSync(join(home, "target-"));
    const target = join(folder, "nightly.backup");
    writeFileSync(target, "the one before");
    const { child, result } = startCli(["backup", target], { env: environmentOf(large.url) });
    await until("it writes", () => readdirSync(folder).length > 1);
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: 130, stdout: "" });
    expect(readdirSync(folder)).toEqual(["nightly.backup"]);
    // A disk that is full in the middle: no file may be longer than some kilobytes.
    const limited = 'ulimit -f 64; exec "$0" "$@"';
    const full = spawn("bash", ["-c", limited, ...programCommand, "backup", target], {
      env: { PATH: process.env["PATH"], ...environmentOf(large.url) },
      stdio: "ignore",
    });
    expect(await new Promise((resolve) => full.once("close", resolve))).toBe(1);
    expect(readdirSync(folder)).toEqual(["nightly.backup"]);
    expect(readFileSync(target, "utf8")).toBe("the one before");
  });

  it("of a pipe are failures: a disk that is full, a reader that goes away", async () => {
    const full = await run(large.url, "backup", "/dev/full");
    expect(full).toMatchObject({ code: 1, stdout: "" });
    expect(full.stderr).toContain("the disk is full");
    const { child, result } = startCli(["backup", "-"], { env: environmentOf(large.url) });
    child.stdout?.destroy();
    expect(await result).toMatchObject({ code: 1 });
  });

  // Five waits of up to 45 s each, and a restore.
  it("of a restore leave an empty database, and it can be tried again", async () => {
    const target = await emptyDatabase();
    const copying = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY %wallet_writes%'`;
    for (const signal of ["SIGKILL", "SIGINT"] as const) {
      const { child, result } = startCli(["restore", largeFile], { env: environmentOf(target) });
      await until("it loads rows", () => runStatement(target, copying));
      child.kill(signal);
      expect(await result).toMatchObject({ code: signal === "SIGKILL" ? null : 130, stdout: "" });
      await until(
        "the database has noticed",
        async () => (await runStatement(target, copying)) === 0,
      );
      expect(await runStatement(target, "SELECT FROM wallet_writes")).toBe(0);
    }
    const broken = run(target, "restore", largeFile);
    await until("it loads rows", () => runStatement(target, copying));
    await runStatement(
      target,
      copying.replace("SELECT", "SELECT pg_terminate_backend(pid, 5000)") +
        " AND pid <> pg_backend_pid()",
    );
    expect(await broken).toMatchObject({
      code: 7,
      stdout: "",
      stderr: expect.stringContaining("Rows are loaded all or not at all") as unknown,
    });
    expect(await runStatement(target, "SELECT FROM wallet_writes")).toBe(0);
    const again = await run(target, "restore", file);
    expect(again.code, again.stderr).toBe(0);
  }, 300_000);

  it.skipIf(!mayMount)(
    "of a restore by a disk that fills are told, and it can be tried again with more space",
    async () => {
      const disk = join(home, "disk");
      mkdirSync(disk);
      const mount = (...flags: string[]) => execFileSync("mount", [...flags, disk]);
      mount("-t", "tmpfs", "-o", "size=150m,mode=755", "tmpfs");
      try {
        const dataDir = join(disk, "data");
        const full = await runIn(dataDir, "restore", largeFile);
        expect(full).toMatchObject({ code: 7, stdout: "" });
        expect(full.stderr).toContain("disk");
        expect(full.stderr).toMatch(/Nothing was restored|all or not at all/);
        mount("-o", "remount,size=400m");
        const again = await runIn(dataDir, "restore", file);
        expect(again.code, again.stderr).toBe(0);
      } finally {
        execFileSync("umount", ["--lazy", disk]);
      }
    },
  );
});

const peakMemory = `
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(json.dumps({"code": code, "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}))
`;

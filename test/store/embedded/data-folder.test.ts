// What may be in a data folder, what is refused, and what a dead process left there.
import { chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DatabaseUnavailable } from "../../../src/store/database-unavailable.ts";
import { openEmbeddedDatabase } from "../../../src/store/embedded/embedded-database.ts";
import { isHome, newHome } from "../../../src/store/embedded/system-directory.ts";
import {
  createMasterKeyFile,
  loadMasterKeyFile,
} from "../../../src/store/embedded/master-key-file.ts";
import {
  clusterOf,
  makeWorkshop,
  postmasterPid,
  removeDataFolder,
  removeWorkshop,
  startOpener,
} from "./processes.ts";

let workshop: string;

beforeAll(async () => {
  workshop = await makeWorkshop();
});

afterAll(async () => {
  await removeWorkshop(workshop);
});

async function refusal(dataDir: string): Promise<string> {
  const error: unknown = await openEmbeddedDatabase({ dataDir, supervise: false }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  return (error as DatabaseUnavailable).message;
}

async function makeAndClose(dataDir: string): Promise<void> {
  await (await openEmbeddedDatabase({ dataDir, supervise: false })).stop();
}

test("refuses a folder with somebody else's files and touches nothing in it", async () => {
  const dataDir = join(workshop, "foreign");
  await mkdir(dataDir, { mode: 0o755 });
  await writeFile(join(dataDir, "thesis.tex"), "years of work");
  const before = await stat(dataDir);
  expect(await refusal(dataDir)).toMatch(/not empty and was not made by ledgerctl.*thesis\.tex/);
  expect(await readdir(dataDir)).toEqual(["thesis.tex"]);
  const after = await stat(dataDir);
  expect([after.mode, after.mtimeMs]).toEqual([before.mode, before.mtimeMs]);
});

test("refuses a data folder that is a file", async () => {
  const path = join(workshop, "file");
  await writeFile(path, "");
  expect(await refusal(path)).toContain("is a file, not a folder");
  expect(await refusal(join(path, "below"))).toContain("a file where a folder should be");
});

test("refuses a folder made by a newer ledgerctl", async () => {
  const dataDir = join(workshop, "newer");
  await mkdir(dataDir);
  await writeFile(join(dataDir, "ledgerctl.json"), '{"format":2,"initialized":true}');
  expect(await refusal(dataDir)).toContain("made by a newer ledgerctl");
});

test("refuses a marker that points outside of where root keeps databases", async () => {
  const dataDir = join(workshop, "pointer");
  await mkdir(dataDir);
  const marker = { format: 1, initialized: true, home: join(workshop, "not-a-home") };
  await writeFile(join(dataDir, "ledgerctl.json"), JSON.stringify(marker));
  expect(await refusal(dataDir)).toContain("ledgerctl.json is damaged");
});

test("takes nothing for a home but a name that it gives itself", () => {
  // Only asked, never written to a disk: whoever followed the second one to clean up would empty /var/lib.
  expect(isHome(newHome("/srv/data"))).toBe(true);
  for (const path of ["/var/lib/ledgerctl", "/var/lib/ledgerctl/..", "/", "relative"]) {
    expect(isHome(path)).toBe(false);
    expect(isHome(`${newHome("/srv/data")}/${path}`)).toBe(false);
  }
});

test("accepts an empty volume, with a master key put there beforehand", async () => {
  const dataDir = join(workshop, "volume");
  await mkdir(join(dataDir, "lost+found"), { recursive: true });
  const key = await createMasterKeyFile(dataDir);
  await makeAndClose(dataDir);
  expect(await loadMasterKeyFile(dataDir)).toBe(key);
});

test("makes a master key once and never replaces it", async () => {
  const dataDir = join(workshop, "key");
  await mkdir(dataDir);
  expect(await loadMasterKeyFile(dataDir)).toBeUndefined();
  const made = await Promise.all([1, 2, 3, 4].map(() => createMasterKeyFile(dataDir)));
  expect(new Set(made).size).toBe(1);
  expect(Buffer.from(made[0] ?? "", "base64")).toHaveLength(32);
  expect((await stat(join(dataDir, "master-key"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["master-key"]);
});

test("never makes an empty database where one has been lost", async () => {
  const dataDir = join(workshop, "lost");
  await makeAndClose(dataDir);
  await rm(await clusterOf(dataDir), { recursive: true });
  expect(await refusal(dataDir)).toMatch(/had its database in .* and it is gone/);
});

test("refuses a database of another major version of PostgreSQL", async () => {
  const dataDir = join(workshop, "major");
  await makeAndClose(dataDir);
  await writeFile(join(await clusterOf(dataDir), "PG_VERSION"), "14\n");
  expect(await refusal(dataDir)).toMatch(/was made by PostgreSQL 14; this ledgerctl brings/);
});

test("tells a wrong password from other trouble, and leaves nothing running", async () => {
  const dataDir = join(workshop, "password");
  await makeAndClose(dataDir);
  const file = join(dataDir, "database-password");
  await writeFile(file, "another");
  expect(await refusal(dataDir)).toContain("does not accept the password");
  expect(await postmasterPid(dataDir)).toBeUndefined();
  await rm(file);
  expect(await refusal(dataDir)).toMatch(/database-password is missing/);
});

test("tells why PostgreSQL did not start, in its own words", async () => {
  const dataDir = join(workshop, "settings");
  await makeAndClose(dataDir);
  const settings = join(await clusterOf(dataDir), "postgresql.conf");
  await writeFile(settings, `${await readFile(settings, "utf8")}\nshared_bufers = 1\n`);
  expect(await refusal(dataDir)).toMatch(/did not start.*shared_bufers|did not start.*errors/);
});

test("finishes what a process killed in the middle of its first start left behind", async () => {
  for (const afterMs of [150, 300, 450, 600]) {
    const dataDir = join(workshop, `half-${afterMs}`);
    const killed = startOpener(workshop, dataDir);
    await sleep(afterMs);
    await killed.kill();
    const next = startOpener(workshop, dataDir);
    await next.receive("open");
    next.send("query");
    await next.receive("answer");
    next.send("stop");
    await next.receive("stopped");
    await makeAndClose(dataDir);
    const names = await readdir(dataDir);
    expect(names.filter((name) => name.startsWith(".ledgerctl-new-"))).toEqual([]);
    await removeDataFolder(dataDir);
  }
});

test("does not trust a socket directory that is a symlink", async () => {
  const dataDir = join(workshop, "symlink");
  await makeAndClose(dataDir);
  const socket = join(dataDir, "socket");
  const elsewhere = join(workshop, "elsewhere");
  await mkdir(elsewhere);
  await rm(socket, { recursive: true });
  await symlink(elsewhere, socket);
  expect(await refusal(dataDir)).toContain("belongs to somebody else or is no directory");
});

test.runIf(process.getuid?.() === 0)(
  "does not trust a socket directory of another user",
  async () => {
    const dataDir = join(workshop, "squatted");
    await makeAndClose(dataDir);
    const socket = join(dataDir, "socket");
    await chown(socket, 1234, 1234);
    expect(await refusal(dataDir)).toContain("belongs to somebody else");
  },
);

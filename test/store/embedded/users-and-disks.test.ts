// Who runs PostgreSQL, from where, and on what disk. As root it runs everything here; else what an ordinary user can.
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  clusterOf,
  copyOfBinaries,
  homeOf,
  isRoot,
  makeWorkshop,
  NOBODY,
  postmasterPid,
  removeDataFolder,
  removeWorkshop,
  startOpener,
  type OpenerOptions,
} from "./processes.ts";

let workshop: string;

beforeAll(async () => {
  workshop = await makeWorkshop();
});

afterAll(async () => {
  await removeWorkshop(workshop);
});

async function openQueryStop(dataDir: string, options: OpenerOptions = {}): Promise<void> {
  const opener = startOpener(workshop, dataDir, options);
  await opener.receive("open");
  opener.send("query");
  await opener.receive("answer");
  opener.send("stop");
  await opener.receive("stopped");
}

async function refusal(dataDir: string, options: OpenerOptions): Promise<string> {
  const opener = startOpener(workshop, dataDir, options);
  const said = await opener.receive("refused");
  expect(said.name).toBe("DatabaseUnavailable");
  return said.message ?? "";
}

/** A home directory as a distribution makes it: nobody else may enter. */
async function privateHome(name: string, user = { uid: 0, gid: 0 }): Promise<string> {
  const home = join(workshop, name);
  await mkdir(home, { mode: 0o700 });
  if (isRoot) await chown(home, user.uid, user.gid);
  return home;
}

test("runs for an ordinary user in a private home", async () => {
  const home = await privateHome("home", NOBODY);
  const dataDir = join(home, "data");
  const user = isRoot ? { user: NOBODY } : {};
  await openQueryStop(dataDir, user);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect(await homeOf(dataDir)).toBe(dataDir);
  await openQueryStop(dataDir, user);
});

test("makes the symlinks that npm left out, or a copy where it may not", async () => {
  const native = await copyOfBinaries(workshop);
  const icu = (await readdir(join(native, "lib"))).filter((name) =>
    /^libicuuc\.so\.\d+$/.test(name),
  );
  const removeLinks = () => Promise.all(icu.map((name) => rm(join(native, "lib", name))));

  await removeLinks();
  const dataDir = join(workshop, "links");
  await openQueryStop(dataDir, { binaries: native });
  expect(await readdir(join(native, "lib"))).toEqual(expect.arrayContaining(icu));

  await removeLinks();
  const home = await privateHome("reader", NOBODY);
  if (!isRoot) await chmod(join(native, "lib"), 0o555);
  const user = isRoot ? { user: NOBODY } : {};
  await openQueryStop(join(home, "data"), { binaries: native, ...user });
  const copied = (await readdir(join(home, "data"))).filter((name) =>
    name.startsWith("postgresql-"),
  );
  expect(copied).toHaveLength(1);
  if (!isRoot) await chmod(join(native, "lib"), 0o755);
  await rm(native, { recursive: true });
});

// Root can write anywhere, so this one is for everybody else.
if (!isRoot)
  test("says whose fault it is when the folder cannot be written", async () => {
    const dataDir = join(workshop, "read-only");
    await mkdir(dataDir, { mode: 0o555 });
    expect(await refusal(dataDir, {})).toContain("permission denied");
  });

describe.runIf(isRoot)("started as root", () => {
  test("keeps the database of a private folder where its user can reach it", async () => {
    const dataDir = join(await privateHome("root-home"), "data");
    await openQueryStop(dataDir);
    const home = await homeOf(dataDir);
    expect(home).toMatch(/^\/var\/lib\/ledgerctl\/[0-9a-f]{16}-[0-9a-f]{8}$/);
    const { uid, mode } = await stat(home);
    expect(uid).not.toBe(0);
    expect(mode & 0o777).toBe(0o700);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dataDir)).not.toContain("postgres");
    await openQueryStop(dataDir);

    // A folder made anew at the same path is a new database.
    await rm(dataDir, { recursive: true });
    await openQueryStop(dataDir);
    expect(await homeOf(dataDir)).not.toBe(home);
    await rm(home, { recursive: true });
    await removeDataFolder(dataDir);
  });

  test("keeps the database in a folder that its user can reach", async () => {
    const dataDir = join(workshop, "reachable");
    await openQueryStop(dataDir);
    expect(await homeOf(dataDir)).toBe(dataDir);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711);
    expect((await stat(await clusterOf(dataDir))).uid).not.toBe(0);
  });

  test("uses a copy of the programs when they lie in a private home, as in a checkout there", async () => {
    const checkout = await privateHome("checkout");
    const native = await copyOfBinaries(checkout);
    const version = `test-${process.pid}`;
    await writeFile(join(checkout, "package.json"), JSON.stringify({ version }));
    const copy = `/var/lib/ledgerctl/postgresql-${version}`;
    const dataDir = join(checkout, "data");
    await openQueryStop(dataDir, { binaries: native });
    const { ino } = await stat(copy);
    await openQueryStop(dataDir, { binaries: native });
    expect((await stat(copy)).ino).toBe(ino);
    await removeDataFolder(dataDir);
    await rm(copy, { recursive: true });
  });

  test("leaves a user's own database usable for that user", async () => {
    const home = await privateHome("mixed", NOBODY);
    const dataDir = join(home, "data");
    await openQueryStop(dataDir, { user: NOBODY });
    await openQueryStop(dataDir);
    await openQueryStop(dataDir, { user: NOBODY });
  });

  test("says what a user who is only a number lacks to make a database", async () => {
    const stranger = { uid: 54321, gid: 54321 };
    const home = await privateHome("stranger", stranger);
    const said = await refusal(join(home, "data"), { user: stranger });
    expect(said).toContain("user id 54321 has no entry in the user database");
    expect(said).toContain("/etc/passwd");
  });

  test("tells another user to stay out of a folder that is not theirs", async () => {
    const dataDir = join(workshop, "roots-own");
    await openQueryStop(dataDir);
    expect(await refusal(dataDir, { user: NOBODY })).toContain("permission denied");
  });

  test("finds and stops a database although it may not look into its process, as in a container", async () => {
    const dataDir = join(workshop, "contained");
    const under = ["setpriv", "--bounding-set=-sys_ptrace"];
    const killed = startOpener(workshop, dataDir, { under });
    await killed.receive("open");
    const pid = await postmasterPid(dataDir);
    await killed.kill();
    const heir = startOpener(workshop, dataDir, { under });
    await heir.receive("open");
    expect(await postmasterPid(dataDir)).toBe(pid);
    heir.send("stop");
    await heir.receive("stopped");
    expect(await postmasterPid(dataDir)).toBeUndefined();
  });

  test("says that the disk is full", async () => {
    const disk = join(workshop, "disk");
    await mkdir(disk);
    const mount = 'mount -t tmpfs -o size="$1",mode=755 tmpfs "$0" && shift && exec "$@"';
    for (const size of ["8k", "20m"]) {
      const under = ["unshare", "--mount", "sh", "-c", mount, disk, size];
      expect(await refusal(join(disk, "data"), { under })).toContain("the disk is full");
    }
  });
});

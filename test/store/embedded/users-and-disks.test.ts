// Who runs PostgreSQL, from where, and on what disk. As root it runs everything here; else what an ordinary user can.
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEmbeddedDatabase } from "../../../src/store/embedded/embedded-database.ts";
import { runStatement } from "../../support/database.ts";
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
  untilUsedByOne,
  type OpenerOptions,
} from "./processes.ts";

let workshop: string;
/** Made by whichever test opens it first: in a private home of an ordinary user's, and where anybody may enter. */
let usersOwn: string;
let reachable: string;
/** A copy of the programs in a folder of their own. */
let native: string;
const user = isRoot ? { user: NOBODY } : {};

beforeAll(async () => {
  workshop = await makeWorkshop();
  usersOwn = join(await privateHome("home", NOBODY), "data");
  reachable = join(workshop, "reachable");
  native = await copyOfBinaries(workshop);
});

afterAll(async () => {
  await removeWorkshop(workshop);
});

/** By an opener, or by this process where that is the same user. */
async function openQueryStop(
  dataDir: string,
  options: Pick<OpenerOptions, "binaries" | "user"> = {},
): Promise<void> {
  if (options.user === undefined) {
    const binaries = options.binaries === undefined ? {} : { binariesDir: options.binaries };
    const database = await openEmbeddedDatabase({ dataDir, supervise: false, ...binaries });
    await runStatement(database.url, "SELECT 1");
    await database.stop();
    return;
  }
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
  await openQueryStop(usersOwn, user);
  expect((await stat(usersOwn)).mode & 0o777).toBe(0o700);
  expect(await homeOf(usersOwn)).toBe(usersOwn);
  await openQueryStop(usersOwn, user);
});

test("makes the symlinks that npm left out, or a copy where it may not", async () => {
  const icu = (await readdir(join(native, "lib"))).filter((name) =>
    /^libicuuc\.so\.\d+$/.test(name),
  );
  const removeLinks = () => Promise.all(icu.map((name) => rm(join(native, "lib", name))));

  await removeLinks();
  await openQueryStop(reachable, { binaries: native });
  expect(await readdir(join(native, "lib"))).toEqual(expect.arrayContaining(icu));

  await removeLinks();
  if (!isRoot) await chmod(join(native, "lib"), 0o555);
  await openQueryStop(usersOwn, { binaries: native, ...user });
  const copied = (await readdir(usersOwn)).filter((name) => name.startsWith("postgresql-"));
  expect(copied).toHaveLength(1);
  if (!isRoot) await chmod(join(native, "lib"), 0o755);
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

  test("keeps the database in a folder that its user can reach, and other users out of it", async () => {
    await openQueryStop(reachable);
    expect(await homeOf(reachable)).toBe(reachable);
    expect((await stat(reachable)).mode & 0o777).toBe(0o711);
    expect((await stat(await clusterOf(reachable))).uid).not.toBe(0);
    expect(await refusal(reachable, { user: NOBODY })).toContain("permission denied");
  });

  test("uses a copy of the programs when they lie in a private home, as in a checkout there", async () => {
    const checkout = dirname(native);
    await chmod(checkout, 0o700);
    const version = `test-${process.pid}`;
    await writeFile(join(checkout, "package.json"), JSON.stringify({ version }));
    const copy = `/var/lib/ledgerctl/postgresql-${version}`;
    await openQueryStop(reachable, { binaries: native });
    const { ino } = await stat(copy);
    await openQueryStop(reachable, { binaries: native });
    expect((await stat(copy)).ino).toBe(ino);
    await rm(copy, { recursive: true });
  });

  test("leaves a user's own database usable for that user", async () => {
    await openQueryStop(usersOwn, user);
    await openQueryStop(usersOwn);
    await openQueryStop(usersOwn, user);
  });

  test("says what a user who is only a number lacks to make a database", async () => {
    const stranger = { uid: 54321, gid: 54321 };
    const home = await privateHome("stranger", stranger);
    const said = await refusal(join(home, "data"), { user: stranger });
    expect(said).toContain("user id 54321 has no entry in the user database");
    expect(said).toContain("/etc/passwd");
  });

  test("finds and stops a database although it may not look into its process, as in a container", async () => {
    const under = ["setpriv", "--bounding-set=-sys_ptrace"];
    const killed = startOpener(workshop, reachable, { under });
    await killed.receive("open");
    const pid = await postmasterPid(reachable);
    await killed.kill();
    const heir = startOpener(workshop, reachable, { under });
    const { url = "" } = await heir.receive("open");
    expect(await postmasterPid(reachable)).toBe(pid);
    await untilUsedByOne(url);
    heir.send("stop");
    await heir.receive("stopped");
    expect(await postmasterPid(reachable)).toBeUndefined();
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

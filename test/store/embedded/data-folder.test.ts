// What may be in a data folder, what is refused, and what a dead process left there.
import { existsSync } from "node:fs";
import {
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DatabaseUnavailable } from "../../../src/store/database-unavailable.ts";
import { openEmbeddedDatabase } from "../../../src/store/embedded/embedded-database.ts";
import { isHome, newHome } from "../../../src/store/embedded/system-directory.ts";
import { masterKeyFile } from "../../../src/store/embedded/key-files.ts";
import {
  clusterOf,
  makeWorkshop,
  postmasterPid,
  removeWorkshop,
  startOpener,
} from "./processes.ts";
import { until } from "../../support/until.ts";

let workshop: string;
/** Made from an empty volume, and as it was made again after each test. */
let made: string;
/** In it before the first start. */
let key: string;

beforeAll(async () => {
  workshop = await makeWorkshop();
  made = join(workshop, "volume");
  await mkdir(join(made, "lost+found"), { recursive: true });
  key = await masterKeyFile.create(made);
  await openAndClose(made);
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

async function openAndClose(dataDir: string): Promise<void> {
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

test("refuses a data folder that can't be made, and says where", async () => {
  expect(await refusal("/proc/x/y")).toMatch(/\/proc\/x'?\b.*--data-dir/);
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

/** Replaces a file or directory of `made` with what `put` makes at its path; tells how it is refused. */
async function refusalWith(path: string, put: () => Promise<unknown>): Promise<string> {
  await rename(path, `${path}.kept`);
  try {
    await put();
    return await refusal(made);
  } finally {
    await rm(path, { recursive: true, force: true });
    await rename(`${path}.kept`, path);
  }
}

test("accepts an empty volume, with a master key put there beforehand", async () => {
  expect(await masterKeyFile.load(made)).toBe(key);
  expect(await readdir(made)).toEqual(expect.arrayContaining(["lost+found", "ledgerctl.json"]));
});

test("makes a master key once and never replaces it", async () => {
  const dataDir = join(workshop, "key");
  await mkdir(dataDir);
  expect(await masterKeyFile.load(dataDir)).toBeUndefined();
  const made = await Promise.all([1, 2, 3, 4].map(() => masterKeyFile.create(dataDir)));
  expect(new Set(made).size).toBe(1);
  expect(Buffer.from(made[0] ?? "", "base64")).toHaveLength(32);
  expect((await stat(join(dataDir, "master-key"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["master-key"]);
});

test("never makes an empty database where one has been lost", async () => {
  const said = await refusalWith(await clusterOf(made), () => Promise.resolve());
  expect(said).toMatch(/had its database in .* and it is gone/);
});

test("refuses a database of another major version of PostgreSQL", async () => {
  const path = join(await clusterOf(made), "PG_VERSION");
  const said = await refusalWith(path, () => writeFile(path, "14\n"));
  expect(said).toMatch(/was made by PostgreSQL 14; this ledgerctl brings/);
});

test("tells a wrong password from other trouble, and leaves nothing running", async () => {
  const file = join(made, "database-password");
  const wrong = await refusalWith(file, () => writeFile(file, "another"));
  expect(wrong).toContain("does not accept the password");
  expect(await postmasterPid(made)).toBeUndefined();
  const missing = await refusalWith(file, () => Promise.resolve());
  expect(missing).toMatch(/database-password is missing/);
});

test("tells why PostgreSQL did not start, in its own words", async () => {
  const path = join(await clusterOf(made), "postgresql.conf");
  const settings = await readFile(path, "utf8");
  const said = await refusalWith(path, () => writeFile(path, `${settings}\nshared_bufers = 1\n`));
  expect(said).toMatch(/did not start.*shared_bufers|did not start.*errors/);
});

test("finishes what processes killed in the middle of a first start left behind", async () => {
  const dataDir = join(workshop, "half");
  // In the folder, or in what a process makes aside: initdb's beginning and middle, and its end, when it is in place.
  for (const path of ["ledgerctl.json", "cluster", "cluster/global/pg_control", "postgres"]) {
    const killed = startOpener(workshop, dataDir);
    await until(path, async () => {
      const names = await readdir(dataDir).catch(() => []);
      const aside = names.filter((name) => name.startsWith(`.ledgerctl-new-${killed.pid}-`));
      return ["", ...aside].some((name) => existsSync(join(dataDir, name, path)));
    });
    await killed.kill();
    expect(await killed.ended).toBeNull();
  }
  const next = startOpener(workshop, dataDir);
  await next.receive("open");
  next.send("query");
  await next.receive("answer");
  next.send("stop");
  await next.receive("stopped");
  await openAndClose(dataDir);
  const names = await readdir(dataDir);
  expect(names.filter((name) => name.startsWith(".ledgerctl-new-"))).toEqual([]);
});

test("does not trust a socket directory that is a symlink", async () => {
  const elsewhere = join(workshop, "elsewhere");
  await mkdir(elsewhere);
  const socket = join(made, "socket");
  const said = await refusalWith(socket, () => symlink(elsewhere, socket));
  expect(said).toContain("belongs to somebody else or is no directory");
});

test.runIf(process.getuid?.() === 0)(
  "does not trust a socket directory of another user",
  async () => {
    const socket = join(made, "socket");
    const said = await refusalWith(socket, async () => {
      await mkdir(socket, { mode: 0o700 });
      await chown(socket, 1234, 1234);
    });
    expect(said).toContain("belongs to somebody else");
  },
);

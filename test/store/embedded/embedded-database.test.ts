// Starting, sharing, losing and stopping the embedded database, each opener a process of its own.
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openEmbeddedDatabase } from "../../../src/store/embedded/embedded-database.ts";
import { findPostmaster } from "../../../src/store/embedded/postmaster.ts";
import {
  clusterOf,
  makeWorkshop,
  postmasterPid,
  removeDataFolder,
  removeWorkshop,
  startOpener,
  type Opener,
  type OpenerOptions,
} from "./processes.ts";

let workshop: string;
let dataDir: string;
let openers: Opener[] = [];
let count = 0;

beforeAll(async () => {
  workshop = await makeWorkshop();
});

afterAll(async () => {
  await removeWorkshop(workshop);
});

afterEach(async () => {
  await Promise.all(openers.map((opener) => opener.kill()));
  openers = [];
  await removeDataFolder(dataDir);
});

function nextFolder(): string {
  count += 1;
  dataDir = join(workshop, `data-${count}`);
  return dataDir;
}

function open(options: OpenerOptions = {}): Opener {
  const opener = startOpener(workshop, dataDir, options);
  openers.push(opener);
  return opener;
}

test("a database allows 200 connections, or as many more as whoever starts it asks for", async () => {
  nextFolder();
  for (const [asked, allowed] of [
    [undefined, "200"],
    [30, "200"],
    [283, "283"],
  ] as const) {
    const options = { dataDir, supervise: false };
    const database = await openEmbeddedDatabase(
      asked === undefined ? options : { ...options, connectionsMax: asked },
    );
    const told = await withClient(database.url, (client) => client.query("SHOW max_connections"));
    expect(told.rows).toEqual([{ max_connections: allowed }]);
    await database.stop();
  }
});

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function kill(pid: number | undefined): void {
  if (pid === undefined) throw new Error("nothing to kill");
  process.kill(pid, "SIGKILL");
}

test("makes a database on the first start and keeps it for the second", async () => {
  const first = await openEmbeddedDatabase({ dataDir: nextFolder(), supervise: false });
  expect(first.state()).toBe("running");
  expect(first.url).toMatch(/^postgresql:\/\/ledgerctl:[\w-]+@%2F.*:5432\/ledgerctl$/);
  await withClient(first.url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
  await first.stop();
  expect(first.state()).toBe("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();

  const second = await openEmbeddedDatabase({ dataDir, supervise: false });
  const kept = await withClient(second.url, (client) => client.query("SELECT answer FROM kept"));
  expect(kept.rows).toEqual([{ answer: 42 }]);
  await second.stop();
});

test("keeps its promises to the disk, listens on no port, and lets nobody else in", async () => {
  const database = await openEmbeddedDatabase({ dataDir: nextFolder(), supervise: false });
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings
        WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses',
                       'data_checksums', 'server_encoding', 'TimeZone', 'max_wal_size')`,
    ),
  );
  expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    listen_addresses: "",
    data_checksums: "on",
    server_encoding: "UTF8",
    TimeZone: "UTC",
    max_wal_size: "4096",
  });
  const password = { ...database.connection, password: "guess" };
  await expect(new Client(password).connect()).rejects.toThrow("password authentication failed");
  expect((await stat(join(dataDir, "database-password"))).mode & 0o777).toBe(0o600);
  expect((await stat(database.connection.host)).mode & 0o777).toBe(0o700);
  expect((await stat(dataDir)).mode & 0o066).toBe(0);
  await database.stop();
});

test("lets two first starters race to one database", async () => {
  nextFolder();
  const [one, two] = [open(), open()];
  const [first, second] = await Promise.all([one.receive("open"), two.receive("open")]);
  expect(second.url).toBe(first.url);
  const names = await readdir(dataDir);
  expect(names.filter((name) => name.startsWith(".ledgerctl-new-"))).toEqual([]);
  for (const opener of [one, two]) {
    opener.send("query");
    expect((await opener.receive("answer")).database).toBe("ledgerctl");
    opener.send("stop");
    await opener.receive("stopped");
  }
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test("runs on for the others when one of two stops, and ends with the last", async () => {
  nextFolder();
  const [one, two] = [open(), open()];
  await Promise.all([one.receive("open"), two.receive("open")]);
  const pid = await postmasterPid(dataDir);
  one.send("stop");
  await one.receive("stopped");
  two.send("query");
  await two.receive("answer");
  expect(await postmasterPid(dataDir)).toBe(pid);
  two.send("stop");
  await two.receive("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test.each([false, true])(
  "keeps nobody from ending who started it and leaves it to another (supervised: %s)",
  async (supervise) => {
    nextFolder();
    const starter = open({ supervise });
    await starter.receive("open");
    const pid = await postmasterPid(dataDir);
    const other = open();
    await other.receive("open");
    starter.send("leave");
    await starter.receive("stopped");
    expect(await starter.ended).toBe(0);
    expect(await postmasterPid(dataDir)).toBe(pid);
    other.send("query");
    await other.receive("answer");
  },
);

test("serves whoever opens while another stops, over and over", async () => {
  nextFolder();
  let previous: Opener | undefined;
  for (let round = 0; round < 6; round++) {
    const next = open();
    // The last one's stop and this one's start meet at a different moment each time.
    await sleep(100 + round * 15);
    previous?.send("stop");
    await next.receive("open");
    next.send("query");
    await next.receive("answer");
    previous = next;
  }
});

test("takes up the database that a killed process left running", async () => {
  nextFolder();
  const killed = open();
  const { url } = await killed.receive("open");
  const pid = await postmasterPid(dataDir);
  await killed.kill();
  const heir = open();
  expect((await heir.receive("open")).url).toBe(url);
  expect(await postmasterPid(dataDir)).toBe(pid);
  heir.send("stop");
  await heir.receive("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test("starts again after the database was killed with SIGKILL", async () => {
  nextFolder();
  const server = open({ supervise: true });
  const { url = "" } = await server.receive("open");
  await withClient(url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
  for (let round = 0; round < 3; round++) {
    kill(await postmasterPid(dataDir));
    const ended = await server.receive("told");
    expect(ended).toMatchObject({
      message: "The database ended unexpectedly",
      state: "restarting",
    });
    expect(await server.receive("told")).toMatchObject({
      message: "The database is back",
      state: "running",
    });
    const kept = await withClient(url, (client) => client.query("SELECT answer FROM kept"));
    expect(kept.rows).toEqual([{ answer: 42 }]);
  }
  server.send("stop");
  await server.receive("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test("waits for a busy session of a killed database before it starts the next", async () => {
  nextFolder();
  const server = open({ supervise: true });
  const { url = "" } = await server.receive("open");
  const pid = await postmasterPid(dataDir);
  // Computes without ever waiting, so that it does not notice that the postmaster is gone.
  const busy = withClient(url, (client) =>
    client.query("SELECT count(*) FROM generate_series(1, 8000000)"),
  ).catch(() => undefined);
  await sleep(200);
  kill(pid);
  let said = await server.receive("told");
  while (said.message !== "The database is back") said = await server.receive("told");
  expect(said.state).toBe("running");
  await busy;
});

test("finishes and restarts a database that somebody asked to stop", async () => {
  nextFolder();
  const server = open({ supervise: true });
  await server.receive("open");
  const pid = await postmasterPid(dataDir);
  process.kill(pid ?? 0, "SIGTERM");
  expect((await server.receive("told")).state).toBe("restarting");
  expect((await server.receive("told")).state).toBe("running");
  expect(await postmasterPid(dataDir)).not.toBe(pid);
}, 30_000);

test("says that it failed, and stays so, where nobody asked it to start again", async () => {
  nextFolder();
  const command = open();
  await command.receive("open");
  kill(await postmasterPid(dataDir));
  expect((await command.receive("told")).state).toBe("failed");
  command.send("stop");
  expect((await command.receive("stopped")).state).toBe("stopped");
});

test("stops in the middle of a restart and leaves nothing running", async () => {
  nextFolder();
  for (const delayMs of [0, 15, 40, 80]) {
    const server = open({ supervise: true });
    await server.receive("open");
    kill(await postmasterPid(dataDir));
    await server.receive("told");
    await sleep(delayMs);
    server.send("stop");
    await server.receive("stopped");
    const { running } = await findPostmaster(await clusterOf(dataDir));
    expect(running).toBeUndefined();
  }
});

test("stays up through Ctrl-C until its server has stopped it", async () => {
  nextFolder();
  const server = open({ ownGroup: true, supervise: true });
  await server.receive("open");
  const pid = await postmasterPid(dataDir);
  process.kill(-server.pid, "SIGINT");
  await server.receive("interrupted");
  await sleep(300);
  server.send("query");
  expect((await server.receive("answer")).database).toBe("ledgerctl");
  expect(await postmasterPid(dataDir)).toBe(pid);
  server.send("stop");
  await server.receive("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test("starts over a postmaster.pid whose number now belongs to another process", async () => {
  nextFolder();
  const killed = open();
  await killed.receive("open");
  const cluster = await clusterOf(dataDir);
  kill(await postmasterPid(dataDir));
  await killed.kill();
  // This test's own process: it lives, and is no PostgreSQL.
  const stale = `${process.pid}\n${cluster}\n1700000000\n5432\n${join(dataDir, "socket")}\n\n\nready   \n`;
  await writeFile(join(cluster, "postmaster.pid"), stale);
  const next = open();
  await next.receive("open");
  expect(await postmasterPid(dataDir)).not.toBe(process.pid);
  next.send("query");
  await next.receive("answer");
});

test("puts the socket where its path fits when the data folder's path is long", async () => {
  const deep = join(workshop, "long-".repeat(12), "longer-".repeat(10));
  await mkdir(deep, { recursive: true });
  dataDir = join(deep, "data");
  const database = await openEmbeddedDatabase({ dataDir, supervise: false });
  expect(database.connection.host.length).toBeLessThan(60);
  const found = await stat(database.connection.host);
  expect(found.mode & 0o777).toBe(0o700);
  await withClient(database.url, (client) => client.query("SELECT 1"));
  await database.stop();
  await rm(database.connection.host, { recursive: true });
});

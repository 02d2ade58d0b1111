// Starting, sharing, losing and stopping the embedded database, by this process and by openers of their own.
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  openEmbeddedDatabase,
  type EmbeddedDatabaseOptions,
} from "../../../src/store/embedded/embedded-database.ts";
import { findPostmaster } from "../../../src/store/embedded/postmaster.ts";
import { until } from "../../support/until.ts";
import {
  clusterOf,
  endDatabase,
  makeWorkshop,
  postmasterPid,
  removeDataFolder,
  removeWorkshop,
  startOpener,
  untilUsedByOne,
  type Opener,
  type OpenerOptions,
} from "./processes.ts";

let workshop: string;
/** Made by whichever test opens it first, or anew where the first start is what is tested. */
let dataDir: string;
let openers: Opener[] = [];
/** What this process opened in a test. */
let openedHere: Awaited<ReturnType<typeof openEmbeddedDatabase>>[] = [];

beforeAll(async () => {
  workshop = await makeWorkshop();
  dataDir = join(workshop, "data");
});

afterAll(async () => {
  await removeWorkshop(workshop);
});

// What a failed test left would disturb the next.
afterEach(async () => {
  await Promise.all(openedHere.map((database) => database.stop()));
  openedHere = [];
  if (openers.length === 0) return;
  await Promise.all(openers.map((opener) => opener.kill()));
  openers = [];
  await endDatabase(dataDir);
});

/** An opening by this process; `told` resolves with the first that it is told of the database. */
async function openHere(options: Partial<EmbeddedDatabaseOptions> = {}) {
  let tell: (message: string) => void = () => undefined;
  const told = new Promise<string>((resolve) => (tell = resolve));
  const given = { dataDir, supervise: false, onEvent: tell, ...options };
  const database = await openEmbeddedDatabase(given);
  openedHere.push(database);
  return { database, told };
}

function open(options: OpenerOptions = {}): Opener {
  const opener = startOpener(workshop, dataDir, options);
  openers.push(opener);
  return opener;
}

test("a database allows 200 connections, or as many more as whoever starts it asks for", async () => {
  for (const [asked, allowed] of [
    [undefined, "200"],
    [30, "200"],
    [283, "283"],
  ] as const) {
    const { database } = await openHere(asked === undefined ? {} : { connectionsMax: asked });
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

/** As a full disk or a lack of memory ends one: PostgreSQL then ends all others. */
async function crashSession(url: string): Promise<void> {
  const session = new Client({ connectionString: url });
  session.on("error", () => undefined);
  await session.connect();
  const { rows } = await session.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  kill(rows[0]?.pid);
}

test("makes a database on the first start and keeps it for the second", async () => {
  await removeDataFolder(dataDir);
  const { database: first } = await openHere();
  expect(first.state()).toBe("running");
  expect(first.url).toMatch(/^postgresql:\/\/ledgerctl:[\w-]+@%2F.*:5432\/ledgerctl$/);
  await withClient(first.url, (client) => client.query("CREATE TABLE kept AS SELECT 42 AS answer"));
  await first.stop();
  expect(first.state()).toBe("stopped");
  expect(await postmasterPid(dataDir)).toBeUndefined();

  const { database: second } = await openHere();
  const kept = await withClient(second.url, (client) => client.query("SELECT answer FROM kept"));
  expect(kept.rows).toEqual([{ answer: 42 }]);
  await second.stop();
});

test("keeps its promises to the disk, listens on no port, and lets nobody else in", async () => {
  const { database } = await openHere();
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

test("lets two first starters race to one database, which ends with the last of them", async () => {
  await removeDataFolder(dataDir);
  const [one, two] = [open(), open()];
  const [first, second] = await Promise.all([one.receive("open"), two.receive("open")]);
  expect(second.url).toBe(first.url);
  const names = await readdir(dataDir);
  expect(names.filter((name) => name.startsWith(".ledgerctl-new-"))).toEqual([]);
  const pid = await postmasterPid(dataDir);
  for (const opener of [one, two]) {
    expect(await postmasterPid(dataDir)).toBe(pid);
    opener.send("query");
    expect((await opener.receive("answer")).database).toBe("ledgerctl");
    opener.send("stop");
    await opener.receive("stopped");
  }
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

test.each([false, true])(
  "keeps nobody from ending who started it and leaves it to another (supervised: %s)",
  async (supervise) => {
    const starter = open({ supervise });
    await starter.receive("open");
    const pid = await postmasterPid(dataDir);
    const { database: other } = await openHere();
    starter.send("leave");
    await starter.receive("stopped");
    expect(await starter.ended).toBe(0);
    expect(await postmasterPid(dataDir)).toBe(pid);
    await withClient(other.url, (client) => client.query("SELECT 1"));
    await other.stop();
  },
);

test("serves whoever opens while another stops, over and over", async () => {
  let previous: Opener | undefined;
  for (let round = 0; round < 4; round++) {
    const next = open();
    // The last one's stop and this one's start meet at a different moment each time.
    await sleep(100 + round * 25);
    previous?.send("stop");
    await next.receive("open");
    next.send("query");
    await next.receive("answer");
    previous = next;
  }
});

test("takes up the database that a killed process left running", async () => {
  const killed = open();
  const { url } = await killed.receive("open");
  const pid = await postmasterPid(dataDir);
  await killed.kill();
  const { database: heir } = await openHere();
  expect(heir.url).toBe(url);
  expect(await postmasterPid(dataDir)).toBe(pid);
  await untilUsedByOne(heir.url);
  await heir.stop();
  expect(await postmasterPid(dataDir)).toBeUndefined();
});

describe("a supervised database", () => {
  let server: Opener;
  let url: string;

  beforeAll(async () => {
    server = startOpener(workshop, dataDir, { supervise: true });
    ({ url = "" } = await server.receive("open"));
  });

  test("starts again after it was killed with SIGKILL", async () => {
    await withClient(url, (client) =>
      client.query("DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 42 AS answer"),
    );
    for (let round = 0; round < 2; round++) {
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
  });

  test("starts again after one of its sessions crashed", async () => {
    const pid = await postmasterPid(dataDir);
    await crashSession(url);
    expect((await server.receive("told")).state).toBe("restarting");
    expect((await server.receive("told")).state).toBe("running");
    expect(await postmasterPid(dataDir)).not.toBe(pid);
    await withClient(url, (client) => client.query("SELECT 1"));
  });

  test("waits for a busy session of the one that was killed before it starts the next", async () => {
    // Computes without ever waiting, so that it does not notice that the postmaster is gone.
    const busy = withClient(url, (client) =>
      client.query(
        "DO 'BEGIN WHILE clock_timestamp() < now() + interval ''1 s'' LOOP END LOOP; END'",
      ),
    ).catch(() => undefined);
    await sleep(200);
    kill(await postmasterPid(dataDir));
    let said = await server.receive("told");
    while (said.message !== "The database is back") said = await server.receive("told");
    expect(said.state).toBe("running");
    await busy;
  });

  test("finishes and restarts when somebody asked it to stop, and stops with its server", async () => {
    const pid = await postmasterPid(dataDir);
    process.kill(pid ?? 0, "SIGTERM");
    expect((await server.receive("told")).state).toBe("restarting");
    expect((await server.receive("told")).state).toBe("running");
    expect(await postmasterPid(dataDir)).not.toBe(pid);
    server.send("stop");
    await server.receive("stopped");
    expect(await postmasterPid(dataDir)).toBeUndefined();
  });
});

test("says that it failed, and stays so, where nobody asked it to start again", async () => {
  const { database: command, told } = await openHere();
  kill(await postmasterPid(dataDir));
  await told;
  expect(command.state()).toBe("failed");
  await command.stop();
  expect(command.state()).toBe("stopped");
});

test("stops in the middle of a restart and leaves nothing running", async () => {
  for (const delayMs of [0, 15, 40, 80]) {
    const { database: server, told } = await openHere({ supervise: true });
    kill(await postmasterPid(dataDir));
    await told;
    await sleep(delayMs);
    await server.stop();
    const { running } = await findPostmaster(await clusterOf(dataDir));
    expect(running).toBeUndefined();
  }
});

test("leaves nothing running where it is stopped after one of its sessions crashed", async () => {
  // It ends within some 20 ms, on a slow machine later.
  for (const delayMs of [0, 5, 10, 20, 40, 80, 120, 160]) {
    const { database: command } = await openHere();
    await crashSession(command.url);
    await sleep(delayMs);
    await command.stop();
    const { running } = await findPostmaster(await clusterOf(dataDir));
    if (running !== undefined)
      await until("PostgreSQL is gone", async () => (await postmasterPid(dataDir)) === undefined);
  }
});

test("is left alone by a command that ends while the server's database replays its log", async () => {
  const server = open({ supervise: true });
  await server.receive("open");
  const { database: command, told } = await openHere();
  // To have something to replay.
  await withClient(command.url, (client) =>
    client.query(
      "SELECT pg_logical_emit_message(true, '', repeat('x', 1000000)) FROM generate_series(1, 300)",
    ),
  );
  const cluster = await clusterOf(dataDir);
  const crashedPid = await postmasterPid(dataDir);
  await crashSession(command.url);
  await told;
  const replaying = await until("the next one runs", async () => {
    const { running } = await findPostmaster(cluster);
    return running !== undefined && running.pid !== crashedPid && running;
  });
  await command.stop();
  expect((await server.receive("told")).state).toBe("restarting");
  expect((await server.receive("told")).state).toBe("running");
  expect(await postmasterPid(dataDir)).toBe(replaying.pid);
});

test("stays up through Ctrl-C until its server has stopped it", async () => {
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
  const { database: lost } = await openHere();
  const cluster = await clusterOf(dataDir);
  kill(await postmasterPid(dataDir));
  await lost.stop();
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
  const { database } = await openHere({ dataDir: join(deep, "data") });
  expect(database.connection.host.length).toBeLessThan(60);
  const found = await stat(database.connection.host);
  expect(found.mode & 0o777).toBe(0o700);
  await withClient(database.url, (client) => client.query("SELECT 1"));
  await database.stop();
  await rm(database.connection.host, { recursive: true });
});

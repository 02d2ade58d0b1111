// The embedded database's own log: duplicates leave no trace in it, real errors do, and it stays small.
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  openEmbeddedDatabase,
  type EmbeddedDatabase,
} from "../../../src/store/embedded/embedded-database.ts";
import { listLogs } from "../../../src/store/embedded/server-log.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { command, sql } from "../../../src/store/database/statement.ts";
import { clusterOf, removeDataFolder } from "./processes.ts";

let parent: string;
let dataDir: string;
let database: EmbeddedDatabase;
let pool: Pool;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "ledgerctl-log-"));
  dataDir = join(parent, "data");
  database = await openEmbeddedDatabase({ dataDir, supervise: false });
  pool = openPool();
});

afterAll(async () => {
  await pool.end();
  await database.stop();
  await removeDataFolder(dataDir);
  await rm(parent, { recursive: true });
});

function openPool(isLogSuppressed = false): Pool {
  return new Pool({
    databaseUrl: database.url,
    connectionsMax: 2,
    answerTimeoutMs: 20_000,
    isLogSuppressed,
  });
}

async function readLogs(): Promise<string> {
  const files = await listLogs(await clusterOf(dataDir));
  return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("");
}

test("has nothing of a duplicate's errors, and all of others'", async () => {
  await pool.run(command`CREATE TABLE ids (id integer PRIMARY KEY)`);
  for (const isLogSuppressed of [true, false]) {
    const own = openPool(isLogSuppressed);
    const duplicate = own.transaction((transaction) =>
      Promise.all([1, 2, 3].map(() => transaction.run(command`INSERT INTO ids VALUES (1)`))),
    );
    await expect(duplicate).rejects.toMatchObject({ code: "23505" });
    await own.end();
    await expect(pool.run(command`SELECT 1 / 0`)).rejects.toMatchObject({ code: "22012" });
    // The log is written by a process of its own, in the order in which it is told.
    const zeros = isLogSuppressed ? 1 : 2;
    await expect
      .poll(async () => (await readLogs()).split("division by zero").length)
      .toBe(zeros + 1);
    const log = await readLogs();
    expect(log.includes("duplicate key")).toBe(!isLogSuppressed);
    // What stood behind it was not carried out, and is no error of its own.
    expect(log.includes("current transaction is aborted")).toBe(false);
  }
});

test("begins new files by size, and loses the oldest with each start", async () => {
  const rows: unknown = await pool.any(sql.unsafe`SHOW log_rotation_size`);
  expect(rows).toEqual([{ log_rotation_size: "8MB" }]);
  const log = join(await clusterOf(dataDir), "log");
  const old = Array.from({ length: 12 }, (_, index) => join(log, `postgresql-old-${index}.log`));
  for (const [index, file] of old.entries()) {
    await writeFile(file, "old\n");
    await utimes(file, index, index);
  }
  await pool.end();
  await database.stop();
  database = await openEmbeddedDatabase({ dataDir, supervise: false });
  pool = openPool();
  const kept = await listLogs(await clusterOf(dataDir));
  expect(kept.length).toBeLessThanOrEqual(9);
  expect(kept).toContain(old[11]);
  expect(kept).not.toContain(old[0]);
});

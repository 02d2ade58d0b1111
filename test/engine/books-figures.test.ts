// Figures of all books: what is dear is read once a minute at most, also where it fails.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BooksReader } from "../../src/engine/books-figures.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { insertBackup } from "../../src/store/backups.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let reads: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  reads = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 60_000 });
});

afterAll(async () => {
  await reads.end();
  await database.drop();
});

/** A pool whose every connection is refused. */
async function unreachablePool(): Promise<Pool> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return new Pool({
    databaseUrl: `postgresql://nobody:nothing@127.0.0.1:${port}/none`,
    connectionsMax: 1,
    answerTimeoutMs: 60_000,
  });
}

test("a reconciliation that fails is tried again after a minute, not by whoever asks next", async () => {
  const longReads = await unreachablePool();
  let nowMs = 0;
  const reader = new BooksReader(reads, longReads, () => nowMs);
  for (let asked = 0; asked < 3; asked += 1) {
    const { backlog, reconciliation } = await reader.read();
    expect([backlog?.pendingBatches, reconciliation]).toEqual([0, null]);
  }
  expect(longReads.usage.failures).toBe(1);
  nowMs += 60_001;
  await reader.read();
  expect(longReads.usage.failures).toBe(2);
  await longReads.end();
});

test("one that succeeds is kept for a minute", async () => {
  let nowMs = 0;
  const reader = new BooksReader(reads, reads, () => nowMs);
  expect((await reader.read()).reconciliation).toEqual({ atMs: 0, differences: [] });
  nowMs += 59_000;
  expect((await reader.read()).reconciliation?.atMs).toBe(0);
  nowMs += 2_000;
  expect((await reader.read()).reconciliation?.atMs).toBe(61_000);
});

test("the last backup is told, and nothing of it where the database does not answer", async () => {
  const unreachable = await unreachablePool();
  expect((await new BooksReader(reads, reads, () => 0).read()).lastBackup).toBeNull();
  const backup = { takenAt: "2026-03-31T02:30:00.000Z" as Timestamp, bytes: 7 };
  await insertBackup(reads, backup);
  const older = { ...backup, takenAt: "2026-03-30T02:30:00.000Z" as Timestamp };
  await insertBackup(reads, older);
  expect((await new BooksReader(reads, reads, () => 0).read()).lastBackup).toEqual(backup);
  const away = await new BooksReader(unreachable, unreachable, () => 0).read();
  expect(away).toEqual({
    backlog: null,
    deliveries: null,
    lastBackup: null,
    haltedLogs: null,
    reconciliation: null,
  });
  await unreachable.end();
});

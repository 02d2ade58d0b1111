// By what a batch of wallet writes is known again, after a COMMIT that went unanswered.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Timestamp } from "../../src/core/time.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { hasWalletWrites } from "../../src/store/wallet-writes.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";

const ledgerId = randomUUID();
const release = {
  walletId: randomUUID(),
  seq: 2,
  type: "release",
  holdId: randomUUID(),
  at: "2026-01-31T12:00:00.123Z" as Timestamp,
  transferId: null,
  pendingPostingId: null,
} as const;
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 20_000 });
  const { walletId, seq, type, holdId, at } = release;
  await runStatement(
    database.url,
    `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, hold_id, at)
     VALUES ($1, $2, $3, $4, 30, 100, 0, $5, $6)`,
    [ledgerId, walletId, seq, type, holdId, at],
  );
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("a release is known by its time: another server may have made the same one at its place", async () => {
  const has = (...writes: Parameters<typeof hasWalletWrites>[2]) =>
    hasWalletWrites(pool, ledgerId, writes);
  expect(await has(release)).toBe(true);
  expect(await has({ ...release, at: "2026-01-31T12:00:00.124Z" as Timestamp })).toBe(false);
  expect(await has({ ...release, holdId: randomUUID() })).toBe(false);
  expect(await has(release, { ...release, seq: 3 })).toBe(false);
});

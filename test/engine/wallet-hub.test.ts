// The hub of streams by itself: when it asks the database for news, and what it tells of that.
import { afterAll, beforeAll, expect, test } from "vitest";
import { WalletHub } from "../../src/engine/wallet-hub.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ databaseUrl: database.url, connectionsMax: 2, answerTimeoutMs: 10_000 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("does not ask while COMMITs are halted, and does not say that it could", async () => {
  let isHalted = true;
  const counts = { asked: 0, successes: 0 };
  const hub = new WalletHub(pool, {
    pollIntervalMs: 1,
    areCommitsHalted: () => {
      counts.asked += 1;
      return isHalted;
    },
    onFailure: (error) => {
      throw error;
    },
    onSuccess: () => {
      counts.successes += 1;
    },
  });
  const ledgerId = "01a00000-0000-7000-8000-000000000000";
  const subscription = await hub.subscribe(ledgerId, "nobody", () => undefined);
  await until("some polls", () => counts.asked > 3);
  expect(counts.successes).toBe(0);
  isHalted = false;
  await until("a poll that succeeds", () => counts.successes > 0);
  subscription.end();
  hub.stop();
});

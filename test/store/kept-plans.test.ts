// Plans that a connection keeps: made once for all values, discarded before they are old, and not used where
// each statement is to be planned for itself.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lockWallets } from "../../src/store/wallet-writes.ts";
import { listWalletFigures } from "../../src/store/wallet-reads.ts";
import { WriteConnections, type StatementSender } from "../../src/store/write-connections.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";
import type { PlanNode } from "../support/plans.ts";

const ledgerId = randomUUID();
let database: TestDatabase;

/** Does work on a connection of its own, that keeps plans or does not. */
async function onConnection(
  keepsPlans: boolean,
  work: (connections: WriteConnections) => Promise<void>,
): Promise<void> {
  const connections = new WriteConnections({
    databaseUrl: database.url,
    connectionsMax: 1,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 5_000,
    keepsPlans,
  });
  try {
    await work(connections);
  } finally {
    await connections.end();
  }
}

/** Does work in a transaction of a lane, which is undone. */
async function inLane<T>(
  connections: WriteConnections,
  work: (sender: StatementSender) => Promise<T>,
): Promise<T> {
  const connection = await connections.borrow();
  const transaction = connection.begin();
  try {
    return await work(transaction);
  } finally {
    await transaction.rollBack();
    connection.giveBack();
  }
}

/** How often the session has used a plan for all values, and one for the values sent, of a statement. */
async function countPlans(sender: StatementSender, name: string) {
  const [row] = await sender.send<{ kept: number; own: number }>(
    {
      name: "count_plans",
      text: `SELECT generic_plans AS kept, custom_plans AS own
               FROM pg_prepared_statements WHERE name = $1`,
    },
    [name],
  );
  return row;
}

/** How the plan that the session keeps for `findGrown` scans its table. */
async function keptScan(sender: StatementSender): Promise<string | undefined> {
  const text = "EXPLAIN (FORMAT JSON) EXECUTE find_grown (NULL)";
  const rows = await sender.send<{ "QUERY PLAN": { Plan: PlanNode }[] }>({ name: "", text }, []);
  return rows[0]?.["QUERY PLAN"][0]?.Plan["Node Type"];
}

const findGrown = { name: "find_grown", text: "SELECT key FROM grown WHERE key = $1" };

beforeAll(async () => {
  database = await createTestDatabase();
  // Nobody takes statistics of it in between, which would have it planned anew, too.
  const grown = "CREATE TABLE grown (key integer PRIMARY KEY) WITH (autovacuum_enabled = off)";
  await runStatement(database.url, grown);
  await runStatement(database.url, "VACUUM grown");
});

afterAll(() => database.drop());

describe("connections that keep plans", () => {
  test("plan once for all values in lanes and reads, and for its values in other transactions", async () => {
    await onConnection(true, async (connections) => {
      await inLane(connections, async (sender) => {
        await lockWallets(sender, ledgerId, ["a"]);
        expect(await countPlans(sender, "lock_wallets")).toEqual({ kept: 1, own: 0 });
      });
      await connections.read(async (sender) => {
        await listWalletFigures(sender, ledgerId, ["a"]);
        expect(await countPlans(sender, "list_wallet_figures")).toEqual({ kept: 1, own: 0 });
      });
      await connections.transaction(async (sender) => {
        await lockWallets(sender, ledgerId, ["a"]);
        expect(await countPlans(sender, "lock_wallets")).toEqual({ kept: 1, own: 1 });
      });
    });
  });

  test("have found the key of a table within a second, however it looked when it was empty", async () => {
    await onConnection(true, async (connections) => {
      await inLane(connections, async (sender) => {
        await sender.send(findGrown, [1]);
        expect(await keptScan(sender)).toBe("Seq Scan");
      });
      const grow = "INSERT INTO grown SELECT generate_series(1, 20000)";
      await runStatement(database.url, grow);
      await sleep(1_000);
      await inLane(connections, async (sender) => {
        expect(await sender.send(findGrown, [20_000])).toEqual([{ key: 20_000 }]);
        expect(await keptScan(sender)).toMatch(/Index/);
      });
    });
  });
});

test("connections that were not asked to keep plans plan for each use", async () => {
  await onConnection(false, async (connections) => {
    await inLane(connections, async (sender) => {
      for (let used = 1; used <= 7; used += 1) await lockWallets(sender, ledgerId, ["a"]);
      expect(await countPlans(sender, "lock_wallets")).toEqual({ kept: 0, own: 7 });
    });
  });
});

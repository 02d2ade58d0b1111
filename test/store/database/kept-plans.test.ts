// Plans that a connection keeps: made once for all values, discarded before they are old, and not used where
// each statement is to be planned for itself.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { queryText, sql } from "../../../src/store/database/statement.ts";
import { listWalletFigures, lockWallets } from "../../../src/store/wallets.ts";
import type { Connection } from "../../../src/store/database/connection.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../../support/database.ts";
import type { PlanNode } from "../../support/plans.ts";

const ledgerId = randomUUID();
let database: TestDatabase;

/** Does work on a connection of its own, that keeps plans or does not. */
async function onConnection(
  keepsPlans: boolean,
  work: (connections: Pool) => Promise<void>,
): Promise<void> {
  const connections = new Pool({
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
  connections: Pool,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return connections.withConnection(async (connection) => {
    const transaction = connection.begin();
    try {
      return await work(transaction);
    } finally {
      await transaction.rollBack();
    }
  });
}

/** How often the session has used a plan for all values, and one for the values sent, of statements on wallets. */
async function countPlans(connection: Connection) {
  const row = z.object({ kept: z.number(), own: z.number() });
  return connection.one(sql.type(row)`
    SELECT coalesce(sum(generic_plans), 0)::integer AS kept,
           coalesce(sum(custom_plans), 0)::integer AS own
      FROM pg_prepared_statements WHERE statement LIKE '%FROM wallets%' AND statement NOT LIKE '%pg_prepared%'`);
}

/** How the plan that the session keeps for `findGrown` scans its table. */
async function keptScan(connection: Connection): Promise<string | undefined> {
  const { name } = queryText(findGrown(0));
  const rows = (await connection.any(
    sql.unsafe`EXPLAIN (FORMAT JSON) EXECUTE ${sql.identifier([name])} (NULL)`,
  )) as { "QUERY PLAN": { Plan: PlanNode }[] }[];
  return rows[0]?.["QUERY PLAN"][0]?.Plan["Node Type"];
}

const findGrown = (key: number) =>
  sql.type(z.object({ key: z.number() }))`SELECT key FROM grown WHERE key = ${key}`;

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
      await inLane(connections, async (connection) => {
        await lockWallets(connection, ledgerId, ["a"]);
        expect(await countPlans(connection)).toEqual({ kept: 1, own: 0 });
      });
      await connections.withConnection(async (connection) => {
        await listWalletFigures(connection, ledgerId, ["a"]);
        expect(await countPlans(connection)).toEqual({ kept: 2, own: 0 });
      });
      await connections.transaction(async (connection) => {
        await lockWallets(connection, ledgerId, ["a"]);
        expect(await countPlans(connection)).toEqual({ kept: 2, own: 1 });
      });
    });
  });

  test("have found the key of a table within a second, however it looked when it was empty", async () => {
    await onConnection(true, async (connections) => {
      await inLane(connections, async (connection) => {
        await connection.any(findGrown(1));
        expect(await keptScan(connection)).toBe("Seq Scan");
      });
      const grow = "INSERT INTO grown SELECT generate_series(1, 20000)";
      await runStatement(database.url, grow);
      await sleep(1_000);
      await inLane(connections, async (connection) => {
        expect(await connection.any(findGrown(20_000))).toEqual([{ key: 20_000 }]);
        expect(await keptScan(connection)).toMatch(/Index/);
      });
    });
  });
});

test("connections that were not asked to keep plans prepare nothing", async () => {
  await onConnection(false, async (connections) => {
    await inLane(connections, async (connection) => {
      for (let used = 1; used <= 7; used += 1) await lockWallets(connection, ledgerId, ["a"]);
      expect(await countPlans(connection)).toEqual({ kept: 0, own: 0 });
    });
  });
});

// A server that the database does not allow connections enough for is refused at its start.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningDatabase } from "../../src/server/database.ts";
import { openInteractivePool } from "../../src/server/pools.ts";
import { connectionsOf, requireConnections } from "../../src/server/prepare-database.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";

const role = `ledgerctl_role_${randomBytes(6).toString("hex")}`;
let database: TestDatabase;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await runStatement(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  const roleUrl = new URL(database.url);
  roleUrl.username = role;
  roleUrl.password = "x";
  url = roleUrl.href;
});

afterAll(async () => {
  await runStatement(database.url, `DROP ROLE ${role}`);
  await database.drop();
});

async function start(workers: number, connectionsMax: number): Promise<void> {
  await runStatement(database.url, `ALTER ROLE ${role} CONNECTION LIMIT ${connectionsMax}`);
  const pool = openInteractivePool(url);
  try {
    await requireConnections(pool, workers, runningDatabase(url));
  } finally {
    await pool.end();
  }
}

test("one server is refused where it gets one connection too few, and not where it gets all", async () => {
  const needed = connectionsOf(1);
  await expect(start(1, needed - 1)).rejects.toThrow(
    `a server needs ${needed} connections to the database, which allows ${needed - 1}. ` +
      "Raise its max_connections (or the limit of the role).",
  );
  await start(1, needed);
});

test("workers are refused with how many would do, if any would", async () => {
  const allowed = connectionsOf(2);
  await expect(start(3, allowed)).rejects.toThrow("or use --workers 2.");
  await expect(start(3, connectionsOf(1))).rejects.toThrow("or use --workers 1.");
  await expect(start(3, connectionsOf(1) - 1)).rejects.toThrow("(or the limit of the role).");
});

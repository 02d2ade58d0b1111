import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { ConnectionBroken, isTransient } from "../../../src/store/database/errors.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { command, sql } from "../../../src/store/database/statement.ts";
import { createTestDatabase } from "../../support/database.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("keeps nothing of those who had a connection", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 5_000 });
  const borrow = async (times: number) => {
    for (let time = 0; time < times; time += 1) pool.giveBack(await pool.borrow());
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await borrow(1_000);
  const after = await borrow(50_000);
  // Less than a pointer of 8 bytes for each.
  expect(after - before).toBeLessThan(400_000);
  await pool.end();
  await database.drop();
});

test("a cut fails those who wait for a connection, and lends none of those that come later", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 2, answerTimeoutMs: 5_000 });
  const lent = await pool.borrow();
  // The first connection is being made when the pool is cut, the second is not to be had.
  const waiting = [pool.borrow(), pool.borrow()].map((borrowed) =>
    borrowed.catch((error: unknown) => error),
  );
  const cut = pool.cut();
  pool.giveBack(lent);
  for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(ConnectionBroken);
  await cut;
  expect(pool.usage).toMatchObject({ open: 0, busy: 0, failures: 3 });
  await database.drop();
});

test("a connection that breaks while it is idle is not lent again, and fails nobody", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 2, answerTimeoutMs: 5_000 });
  const [idle, other] = [await pool.borrow(), await pool.borrow()];
  const backend = sql.type(z.object({ pid: z.int() }))`SELECT pg_backend_pid() AS pid`;
  const { pid } = await idle.one(backend);
  pool.giveBack(idle);
  await other.any(sql.unsafe`SELECT pg_terminate_backend(${pid})`);
  await expect.poll(() => pool.usage.open).toBe(1);
  expect((await pool.one(backend)).pid).not.toBe(pid);
  pool.giveBack(other);
  expect(pool.usage).toMatchObject({ open: 2, busy: 0, failures: 0 });
  await pool.end();
  await database.drop();
});

test("connections that nobody uses are closed after a while, and those in use are kept", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 3, answerTimeoutMs: 5_000 });
  const lent = await Promise.all([pool.borrow(), pool.borrow(), pool.borrow()]);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (const connection of lent) pool.giveBack(connection);
  expect(pool.usage).toMatchObject({ open: 3, busy: 0 });
  for (const open of [2, 1, 1]) {
    pool.giveBack(await pool.borrow());
    vi.advanceTimersByTime(60_000);
    expect(pool.usage.open).toBe(open);
  }
  vi.advanceTimersByTime(60_000);
  expect(pool.usage.open).toBe(0);
  vi.useRealTimers();
  await pool.any(sql.unsafe`SELECT 1 AS one`);
  await pool.end();
  await database.drop();
});

test("its end waits for what was lent, and lends nothing more", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 5_000 });
  const lent = await pool.borrow();
  const waiting = pool.borrow().catch((error: unknown) => error);
  let hasEnded = false;
  const end = pool.end().then(() => (hasEnded = true));
  await lent.any(sql.unsafe`SELECT 1 AS one`);
  expect(hasEnded).toBe(false);
  pool.giveBack(lent);
  await end;
  expect(await waiting).toBeInstanceOf(ConnectionBroken);
  await expect(pool.borrow()).rejects.toBeInstanceOf(ConnectionBroken);
  await database.drop();
});

test.each([
  ["takes no writes any more", command`SET default_transaction_read_only = on`, "25006"],
  ["has lost what was prepared", command`DEALLOCATE ALL`, "26000"],
])("a session that %s is not lent again", async (_, spoil, code) => {
  const database = await createTestDatabase();
  const pool = new Pool({
    databaseUrl: database.url,
    connectionsMax: 1,
    answerTimeoutMs: 5_000,
    keepsPlans: true,
  });
  const write = async () => {
    const { pid } = await pool.one(sql.type(z.object({ pid: z.int(), touched: z.int() }))`
      WITH touched AS (UPDATE organizations SET name = name RETURNING 1)
      SELECT pg_backend_pid() AS pid, (SELECT count(*)::integer FROM touched) AS touched`);
    return pid;
  };
  const before = await write();
  await pool.run(spoil);
  const failed = await write().catch((error: unknown) => error);
  expect(failed).toMatchObject({ code });
  expect(isTransient(failed)).toBe(true);
  expect(await write()).not.toBe(before);
  await pool.end();
  await database.drop();
});

test("what was read in a snapshot stands, although its connection breaks before the end", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 5_000 });
  const pidRow = sql.type(z.object({ pid: z.int() }));
  const read = await pool.withConnection((connection) =>
    connection.snapshot(async (snapshot) => {
      const { pid } = await snapshot.one(pidRow`SELECT pg_backend_pid() AS pid`);
      connection.cut();
      return pid;
    }),
  );
  expect((await pool.one(pidRow`SELECT pg_backend_pid() AS pid`)).pid).not.toBe(read);
  await pool.end();
  await database.drop();
});

test("two connections see the database as it was at one moment", async () => {
  const database = await createTestDatabase();
  const options = { databaseUrl: database.url, connectionsMax: 3, answerTimeoutMs: 5_000 };
  let pool = new Pool(options);
  await pool.run(command`CREATE TABLE written (number integer)`);
  await pool.any(sql.unsafe`
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = %L', current_database(), '1h');
    END $$`);
  await pool.end();
  pool = new Pool(options);
  const counted = sql.type(z.object({ count: z.number(), pid: z.int(), timeout: z.string() }))`
    SELECT count(*), pg_backend_pid() AS pid,
           current_setting('idle_in_transaction_session_timeout') AS timeout
      FROM written`;
  const [first, second] = await pool.twoOfOneSnapshot(async (...connections) => {
    await pool.run(command`INSERT INTO written VALUES (1)`);
    return Promise.all(connections.map((connection) => connection.one(counted)));
  });
  expect([first?.count, second?.count]).toEqual([0, 0]);
  expect([first?.timeout, second?.timeout]).toEqual(["0", "0"]);
  expect(first?.pid).not.toBe(second?.pid);
  expect(await pool.one(counted)).toMatchObject({ count: 1, timeout: "1h" });
  await pool.end();
  await database.drop();
});

// How long a statement that only reads may take: sums over years of books are read through connections
// that were told to wait for them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUnavailable } from "../../../src/store/database/errors.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { sql } from "../../../src/store/database/statement.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

const sleep = (seconds: number) => sql.unsafe`SELECT pg_sleep(${seconds})::text AS slept`;

async function sleepFor(seconds: number, answerTimeoutMs: number): Promise<string> {
  const connections = new Pool({
    databaseUrl: database.url,
    connectionsMax: 1,
    lockTimeoutMs: 1_000,
    answerTimeoutMs,
  });
  try {
    await connections.any(sleep(seconds));
    return "answered";
  } catch {
    return "timed out";
  } finally {
    await connections.end();
  }
}

/** What becomes of work on a pool. */
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "answered",
    (error: unknown) => (isUnavailable(error) ? "unavailable" : String(error)),
  );

test("a read times out after the limit of its connections, and no earlier", async () => {
  expect(await sleepFor(30, 200)).toBe("timed out");
  // Longer than what is usual where nothing is told.
  expect(await sleepFor(6, 60_000)).toBe("answered");
});

test("a read that takes long is cancelled when it is cut, and holds up nobody who ends the connections", async () => {
  const connections = new Pool({
    databaseUrl: database.url,
    connectionsMax: 2,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 600_000,
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const long = outcomeOf(
    connections.withConnection(async (connection) => {
      await connection.any(sleep(0));
      begin();
      return connection.any(sleep(300));
    }),
  );
  await begun;
  const cut = connections.cut();
  expect(await long).toBe("unavailable");
  await cut;
});

test("work with limits is cut when its time is over or nobody waits for it, and leaves places to the rest", async () => {
  const pool = new Pool({
    databaseUrl: database.url,
    connectionsMax: 2,
    reservedConnections: 1,
    answerTimeoutMs: 600_000,
  });
  expect(await outcomeOf(pool.within({ timeoutMs: 200 }).any(sleep(300)))).toBe("unavailable");
  const gone = new AbortController();
  const long = outcomeOf(pool.within({ signal: gone.signal }).any(sleep(300)));
  // The one place for work with limits is taken; what has none has a connection all the same.
  await pool.any(sleep(0));
  const next = pool.within({ timeoutMs: 60_000 }).any(sleep(0));
  gone.abort();
  expect(await long).toBe("unavailable");
  await next;
  expect(await outcomeOf(pool.within({ signal: gone.signal }).any(sleep(300)))).toBe("unavailable");
  expect(pool.usage).toMatchObject({ busy: 0, waiting: 0, failures: 0 });
  await pool.end();
});

test("who waits for a connection of a pool that is cut is told at once", async () => {
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 600_000 });
  const works = [pool.any(sleep(300)), pool.any(sleep(300))];
  const cut = pool.cut();
  for (const { status } of await Promise.allSettled(works)) expect(status).toBe("rejected");
  await cut;
});

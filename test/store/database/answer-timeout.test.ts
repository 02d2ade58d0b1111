// How long a statement that only reads may take: sums over years of books are read through connections
// that were told to wait for them.
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUnavailable } from "../../../src/store/database/errors.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { sql } from "slonik";
import { pingDatabase } from "../../../src/store/database-settings.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

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
    return "given up";
  } finally {
    await connections.end();
  }
}

test("a read is given up after the time that its connections were told, and no earlier", async () => {
  expect(await sleepFor(30, 200)).toBe("given up");
  // Longer than what is usual where nothing is told.
  expect(await sleepFor(6, 60_000)).toBe("answered");
});

test("a read that takes long is given up when it is cut, and holds up nobody who ends the connections", async () => {
  const connections = new Pool({
    databaseUrl: database.url,
    connectionsMax: 2,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 600_000,
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const long = connections
    .withConnection(async (connection) => {
      await pingDatabase(connection);
      begin();
      return connection.any(sleep(300));
    })
    .then(
      () => "answered",
      (error: unknown) => (isUnavailable(error) ? "unavailable" : String(error)),
    );
  await begun;
  const cut = connections.cut();
  expect(await long).toBe("unavailable");
  await cut;
});

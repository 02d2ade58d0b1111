// Poolers in front of the database: one that gives each session a backend of its own is used, with all settings; one
// that shares backends is refused, at the start and while a server runs.
import { Writable } from "node:stream";
import { pino } from "pino";
import * as z from "zod";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommitProbe } from "../../../src/server/commit-probe.ts";
import { watchPooler } from "../../../src/server/pooler-watch.ts";
import { DatabaseUnavailable } from "../../../src/store/database-unavailable.ts";
import { ping } from "../../support/ping.ts";
import { isUnavailable } from "../../../src/store/database/errors.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { sql } from "../../../src/store/database/statement.ts";
import { listMigrations, migrate } from "../../../src/store/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { openPooler, type Pooler } from "../../support/pooler.ts";

let database: TestDatabase;
let pooler: Pooler;

beforeAll(async () => {
  database = await createTestDatabase();
  pooler = await openPooler(database.url, false);
});

afterAll(async () => {
  await pooler.close();
  await database.drop();
});

const settingsRow = z.object({ name: z.string(), setting: z.string() });

const poolOn = (databaseUrl: string) =>
  new Pool({ databaseUrl, connectionsMax: 3, answerTimeoutMs: 10_000, lockTimeoutMs: 1_000 });

test("a session has its settings where a pooler passes none on", async () => {
  expect(await migrate(pooler.url)).toEqual([]);
  const pool = poolOn(pooler.url);
  const rows = await pool.any(sql.type(settingsRow)`
    SELECT name, setting FROM pg_settings
     WHERE name IN ('synchronous_commit', 'lock_timeout', 'plan_cache_mode', 'TimeZone', 'extra_float_digits',
                    'idle_in_transaction_session_timeout', 'client_min_messages', 'DateStyle')
     ORDER BY name COLLATE "C"`);
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    DateStyle: expect.stringMatching(/^ISO/) as string,
    TimeZone: "UTC",
    client_min_messages: "warning",
    extra_float_digits: "1",
    idle_in_transaction_session_timeout: "30000",
    lock_timeout: "1000",
    plan_cache_mode: "force_custom_plan",
    synchronous_commit: "on",
  });
  await pool.end();
});

test("a pooler that shares backends is refused before anything is locked, and told what to set", async () => {
  const sharing = await openPooler(database.url, true);
  for (const act of [() => migrate(sharing.url), () => listMigrations(sharing.url)]) {
    const refused = act();
    await expect(refused).rejects.toThrow("Set pool_mode = session for this database");
    await expect(refused).rejects.toBeInstanceOf(DatabaseUnavailable);
  }
  await sharing.close();
});

test("a pooler that begins to share backends is not used until it does not, and the log says why", async () => {
  const lines: string[] = [];
  let onLine = () => undefined as unknown;
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      onLine();
      done();
    },
  });
  const logged = (count: number) =>
    new Promise<void>((resolve) => {
      onLine = () => {
        if (lines.length >= count) resolve();
      };
      onLine();
    });
  const pool = poolOn(pooler.url);
  await ping(pool);
  const stop = watchPooler(pooler.url, 20, pino({ level: "info" }, destination));
  pooler.setSharing(true);
  await logged(1);
  const refused = await ping(pool).catch((error: unknown) => error);
  expect(isUnavailable(refused)).toBe(true);
  expect(String(refused)).toContain("pool_mode = session");
  let reason: string | null = null;
  await new CommitProbe(pool, pool, (told) => (reason = told)).commit();
  expect(reason).toContain("Set pool_mode = session for this database");
  pooler.setSharing(false);
  await logged(2);
  await ping(pool);
  stop();
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("Set pool_mode = session for this database");
  expect(lines[1]).toContain("the database is used again");
  await pool.end();
});

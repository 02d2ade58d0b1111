// A host that hangs is left as soon as another one serves, however long a statement may take. Two ways to one database
// stand for the hosts.
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchHosts } from "../../src/server/host-watch.ts";
import { ping } from "../support/ping.ts";
import { isUnavailable } from "../../src/store/database/errors.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { sql } from "../../src/store/database/statement.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let proxies: CuttingProxy[];

beforeAll(async () => {
  database = await createTestDatabase();
  proxies = [await openCuttingProxy(database.url), await openCuttingProxy(database.url)];
});

afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await database.drop();
});

test("what waits for a host that hangs fails when another serves", async () => {
  const [first = "", second = ""] = proxies.map(({ url }) => new URL(url).host);
  const databaseUrl = (proxies[0]?.url ?? "").replace(first, `${first},${second}`);
  const lines: string[] = [];
  let onLine: () => void = () => undefined;
  const logged = new Promise<void>((resolve) => (onLine = resolve));
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      onLine();
      done();
    },
  });
  const pool = new Pool({ databaseUrl, connectionsMax: 2, answerTimeoutMs: 3_600_000 });
  await ping(pool);
  const unwatch = watchHosts(databaseUrl, pino({ level: "info" }, destination));
  const waiting = pool
    .any(sql.unsafe`SELECT pg_sleep(3600)::text AS slept`)
    .catch((error: unknown) => error);
  proxies[0]?.freeze();
  const failed = await waiting;
  expect(isUnavailable(failed)).toBe(true);
  expect(String(failed)).toContain(`${second} serves now`);
  await ping(pool);
  await logged;
  await unwatch();
  expect(lines).toEqual([expect.stringContaining(second)]);
  await pool.end();
});

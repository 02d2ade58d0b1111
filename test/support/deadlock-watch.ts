// Deadlocks in an embedded database, apart from locks that a slow machine waits for: both have a batch tried again.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import { openEmbeddedDatabase } from "../../src/store/embedded/embedded-database.ts";
import { runStatement } from "./database.ts";
import { until } from "./until.ts";

export interface DeadlockWatch {
  /** Expects that there was no deadlock since the watch began, and ends it. */
  expectNone(): Promise<void>;
}

/** Begins to watch a database that runs. */
export async function watchDeadlocks(dataDir: string): Promise<DeadlockWatch> {
  const database = await openEmbeddedDatabase({ dataDir, supervise: false });
  const { url } = database;
  await database.stop();
  // Sooner than a statement gives up waiting for a lock, which ends a deadlock before PostgreSQL has looked for it.
  await runStatement(url, "ALTER SYSTEM SET deadlock_timeout = '100ms'");
  await runStatement(url, "ALTER SYSTEM SET log_lock_waits = on");
  await runStatement(url, "SELECT pg_reload_conf()");
  return {
    expectNone: async () => {
      expect(deadlocksLogged(dataDir)).toEqual([]);
      await makeDeadlock(url);
      await until("the log of a deadlock", () => deadlocksLogged(dataDir).length === 1);
      await runStatement(url, "ALTER SYSTEM RESET ALL");
      await runStatement(url, "SELECT pg_reload_conf()");
    },
  };
}

function deadlocksLogged(dataDir: string): string[] {
  const folder = join(dataDir, "postgres", "log");
  const lines = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8").split("\n"),
  );
  return lines.filter((line) => line.includes(" detected deadlock "));
}

/** Two sessions that wait for each other, one of which PostgreSQL lets go on. */
async function makeDeadlock(url: string): Promise<void> {
  const sessions = [1, 2].map((lock) => ({ lock, client: new Client({ connectionString: url }) }));
  for (const { client, lock } of sessions) {
    await client.connect();
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
  }
  await Promise.allSettled(
    sessions.map(({ client, lock }) =>
      client.query("SELECT pg_advisory_xact_lock($1)", [3 - lock]),
    ),
  );
  for (const { client } of sessions) await client.end();
}

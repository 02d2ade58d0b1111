// Deadlocks in a database, apart from locks that a slow machine waits for: both have a batch tried again.
import { Client } from "pg";
import { expect } from "vitest";
import { runStatement } from "./database.ts";
import { until } from "./until.ts";

export interface DeadlockWatch {
  /** Expects that there was no deadlock since the watch began, and ends it. Ends all sessions of the database, too. */
  expectNone(): Promise<void>;
}

/** Begins to watch a database that runs, and ends the sessions that it has by then. */
export async function watchDeadlocks(url: string): Promise<DeadlockWatch> {
  const database = new URL(url).pathname.slice(1);
  // Sooner than a statement gives up waiting for a lock, which ends a deadlock before PostgreSQL has looked for it.
  await runStatement(url, `ALTER DATABASE ${database} SET deadlock_timeout = '100ms'`);
  await endSessions(url);
  const before = await countDeadlocks(url);
  return {
    expectNone: async () => {
      // One that is made here shows that any other would have been counted.
      await makeDeadlock(url);
      await runStatement(url, `ALTER DATABASE ${database} RESET deadlock_timeout`);
      await endSessions(url);
      const counted = (await countDeadlocks(url)) - before;
      expect(counted, "deadlocks, with the one that is made here").toBe(1);
    },
  };
}

/** Ends the sessions that a database has. Later ones get its settings, and its figures have all that these counted. */
async function endSessions(url: string): Promise<void> {
  await withClient(url, (client) =>
    until("the end of all sessions", async () => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(other.pid)
           FROM pg_stat_activity AS other JOIN pg_stat_activity AS own USING (datname)
          WHERE own.pid = pg_backend_pid() AND other.backend_start < own.backend_start
            AND other.backend_type = 'client backend'`,
      );
      return rowCount === 0;
    }),
  );
}

function countDeadlocks(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ deadlocks: number }>(
      "SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()",
    );
    return rows[0]?.deadlocks ?? Number.NaN;
  });
}

async function withClient<Found>(
  url: string,
  run: (client: Client) => Promise<Found>,
): Promise<Found> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
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

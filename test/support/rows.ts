// What only the database can tell: rows, read with a connection of the test's own.
import { Client } from "pg";
import { isCluster } from "./cluster.ts";
import type { TestService } from "./service.ts";

/** The sessions of the statement's own database that wait for a lock of another, on whichever node. */
export const lockWaiters = `SELECT ${isCluster ? "global_pid AS pid FROM citus_stat_activity" : "pid FROM pg_stat_activity"}
                             WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Runs one statement on the books' database and returns its rows; numbers beyond int4 come as text. */
export async function readRows(
  service: Pick<TestService, "books">,
  statement: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const options = "-c ledgerctl.chains_logs=on";
  const client = new Client({ connectionString: service.books.databaseUrl, options });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

/** How many rows a statement gives. */
export async function countRows(
  service: Pick<TestService, "books">,
  statement: string,
  values: unknown[] = [],
): Promise<number> {
  return (await readRows(service, statement, values)).length;
}

// A database of its own for a test file: a clone of the migrated template, in some tens of milliseconds.
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { Client } from "pg";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Empty but migrated. `drop` cuts whatever is still connected. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject("databaseUrl");
  const name = `ledgerctl_test_${randomBytes(6).toString("hex")}`;
  await runStatement(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${inject("templateDatabase")}`);
  return {
    url: withDatabase(serverUrl, name),
    drop: async () => {
      await runStatement(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** The same server, another database; socket directories stay as they are written ("%2Ftmp%2Fx"). */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs one statement outside of any transaction and returns how many rows it gave. */
export async function runStatement(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement, values)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

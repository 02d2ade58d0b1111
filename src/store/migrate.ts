// Applying migrations/: forward only, in order, each once, under a lock that other starters wait for.
import type { Client } from "pg";
import { withSingleClient } from "./database/single-client.ts";
import { distributeNewTables } from "./distribution.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import { listMigrationFileNames, withMigrationFiles } from "./migration-files.ts";

/** The table of applied migrations. */
export const migrationsTable = "schema_migrations";

export interface MigrationStatus {
  readonly name: string;
  readonly applied: boolean;
}

/**
 * Applies what is missing and returns the names of what was applied, in order. `upTo`: only so many of all migrations
 * are applied in the end, the first ones.
 */
export async function migrate(databaseUrl: string, upTo = Infinity): Promise<string[]> {
  return withSingleClient(databaseUrl, "migrate", async (client) => {
    await requireUtf8(client);
    const [files, before] = await Promise.all([
      listMigrationFiles(),
      listAppliedMigrations(client),
    ]);
    refuseNewerSchema(files, before);
    const count = Math.min(upTo, files.length) - before.length;
    if (count <= 0) {
      // Those of an earlier run that ended before it had distributed them.
      await distributeNewTables(client);
      return [];
    }
    // Only where something is missing: loading it takes a twelfth of the start of every command on the database.
    const { runner } = await import("node-pg-migrate");
    const applied = await withMigrationFiles((dir) =>
      runner({
        dbClient: client,
        dir,
        direction: "up",
        count,
        migrationsTable,
        advisoryLockMode: "wait",
        singleTransaction: true,
        checkOrder: true,
        log: () => undefined,
      }),
    );
    await distributeNewTables(client);
    return applied.map(({ name }) => name);
  });
}

/** Every migration of this program and whether the database has it, and any that only the database knows. */
export async function listMigrations(databaseUrl: string): Promise<MigrationStatus[]> {
  const [files, applied] = await withSingleClient(databaseUrl, "migrate", (client) =>
    Promise.all([listMigrationFiles(), listAppliedMigrations(client)]),
  );
  const names = [...new Set([...files, ...applied])].sort();
  return names.map((name) => ({ name, applied: applied.includes(name) }));
}

/** A schema that a newer program has migrated is not this one's to write to. */
function refuseNewerSchema(files: readonly string[], applied: readonly string[]): void {
  const unknown = applied.filter((name) => !files.includes(name));
  if (unknown.length === 0) return;
  throw new DatabaseUnavailable(
    `the database has migrations that this version does not know (${unknown.join(", ")}); ` +
      "a newer ledgerctl has been here: use that version or a newer one",
  );
}

/** The names of all migrations that this program has, in order. */
export async function listMigrationFiles(): Promise<string[]> {
  return (await listMigrationFileNames())
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -".sql".length))
    .sort();
}

/** The names of the migrations that a database has, in order. */
export async function listAppliedMigrations(client: Client): Promise<string[]> {
  // The table of migrations is made with the first of them.
  const { rows } = await client.query<{ present: boolean }>(
    "SELECT to_regclass($1) IS NOT NULL AS present",
    [migrationsTable],
  );
  if (rows[0]?.present !== true) return [];
  const applied = await client.query<{ name: string }>(
    `SELECT name FROM ${migrationsTable} ORDER BY name COLLATE "C"`,
  );
  return applied.rows.map(({ name }) => name);
}

/** Text is compared by its UTF-8 bytes and may hold any character; another encoding breaks both. */
async function requireUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string; server_version_num: string }>(
    `SELECT current_setting('server_encoding') AS server_encoding,
            current_setting('server_version_num') AS server_version_num`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error("settings gave no row");
  if (row.server_encoding !== "UTF8") {
    throw new DatabaseUnavailable(
      `the database is encoded in ${row.server_encoding}; create it with ENCODING 'UTF8'`,
    );
  }
  if (Number(row.server_version_num) < 150_000) {
    throw new DatabaseUnavailable(
      "the database server is older than PostgreSQL 15; use 15 or newer",
    );
  }
}

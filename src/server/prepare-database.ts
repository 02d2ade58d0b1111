// What a server sees to before it serves: the schema, settings that would lose writes, and connections enough.
import type { Log } from "../log.ts";
import { getConnectionLimit, listUnsafeSettings } from "../store/database-settings.ts";
import type { Pool } from "../store/database/pool.ts";
import { listMigrations, migrate } from "../store/migrate.ts";
import { whenReachable, type Database } from "./database.ts";
import { connectionsPerProcess } from "./pools.ts";

/** The first process's own: reads, the reconciliation, its lease on an embedded database or migrations. */
const connectionsOfFirstProcess = 9;

/** Connections to the database that so many workers and the process that started them have at most. */
export function connectionsOf(workers: number): number {
  return workers * connectionsPerProcess + connectionsOfFirstProcess;
}

/** Applies the migrations that the database lacks, or fails where there are any. */
export async function prepareSchema(
  databaseUrl: string,
  { migrates, log }: { readonly migrates: boolean; readonly log: Log },
): Promise<void> {
  if (migrates) {
    const applied = await whenReachable(() => migrate(databaseUrl));
    if (applied.length > 0) log.info({ migrations: applied }, "migrated");
    return;
  }
  const migrations = await whenReachable(() => listMigrations(databaseUrl));
  const missing = migrations.filter(({ applied }) => !applied).map(({ name }) => name);
  if (missing.length === 0) return;
  throw new Error(
    `the database lacks migrations (${missing.join(", ")}); run \`ledgerctl migrate\``,
  );
}

export async function warnAboutUnsafeSettings(pool: Pool, log: Log): Promise<void> {
  for (const { name, setting } of await listUnsafeSettings(pool)) {
    log.error(
      { setting: name, value: setting },
      `the database runs with ${name} = ${setting}: a crash can lose writes that were acknowledged`,
    );
  }
}

/** Workers that get no connection would answer 503 under load, and nobody would know why. */
export async function requireConnections(
  pool: Pool,
  workers: number,
  { dataDir }: Database,
): Promise<void> {
  const needed = connectionsOf(workers);
  const allowed = await getConnectionLimit(pool);
  // One process gets along with fewer while there is little to do.
  if (workers === 1 || needed <= allowed) return;
  const enoughFor = Math.max(1, Math.floor((allowed - connectionsOf(0)) / connectionsPerProcess));
  const remedy =
    dataDir === null
      ? `Raise its max_connections (or the limit of the role), or use --workers ${enoughFor}.`
      : "It was started for fewer: end what else uses it, and start this server again.";
  throw new Error(
    `--workers ${workers} needs ${needed} connections to the database, which allows ${allowed}. ${remedy}`,
  );
}

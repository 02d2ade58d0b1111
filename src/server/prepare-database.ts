// What a server sees to before it serves: the schema, settings that would lose writes, and connections enough.
import type { Log } from "../log.ts";
import { getConnectionLimit, listUnsafeSettings } from "../store/database-settings.ts";
import type { Pool } from "../store/database/pool.ts";
import { listMigrations, migrate } from "../store/migrate.ts";
import { whenReachable, type Database } from "./database.ts";
import { hasHostsToWatch } from "./host-watch.ts";
import { connectionsPerProcess } from "./pools.ts";

/** The reconciliation, and a lease on an embedded database or migrations. */
const connectionsOfServer = 2;
/** A process that has workers reads itself, too. */
const connectionsOfFirstProcess = 7;

/** The most connections that a server with so many processes opens. Without a URL: to a database with one host. */
export function connectionsOf(workers: number, databaseUrl: string | null = null): number {
  const ofHostWatch = databaseUrl !== null && hasHostsToWatch(databaseUrl) ? 1 : 0;
  const ofProcesses = workers * (connectionsPerProcess + ofHostWatch) + connectionsOfServer;
  return workers === 1 ? ofProcesses : ofProcesses + connectionsOfFirstProcess;
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

/** A server that gets too few connections would answer 503 under load, and nobody would know why. */
export async function requireConnections(
  pool: Pool,
  workers: number,
  { dataDir, url }: Database,
): Promise<void> {
  const needed = connectionsOf(workers, url);
  const allowed = await getConnectionLimit(pool);
  if (needed <= allowed) return;
  const what = workers === 1 ? "a server" : `--workers ${workers}`;
  const remedy =
    dataDir === null
      ? `Raise its max_connections (or the limit of the role)${fewerWorkers(workers, allowed, url)}.`
      : "It was started for fewer: end what else uses it, and start this server again.";
  throw new Error(
    `${what} needs ${needed} connections to the database, which allows ${allowed}. ${remedy}`,
  );
}

/** What to do instead of allowing more, where that is possible. */
function fewerWorkers(workers: number, allowed: number, url: string): string {
  for (let fewer = workers - 1; fewer > 0; fewer -= 1) {
    if (connectionsOf(fewer, url) <= allowed) return `, or use --workers ${fewer}`;
  }
  return "";
}

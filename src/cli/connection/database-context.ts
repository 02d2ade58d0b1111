// From flags and environment to the database: somebody's own by URL, else the embedded one.
import type { Environment } from "../../config.ts";
import type { Timestamp } from "../../core/time.ts";
import {
  openDatabase,
  whenReachable,
  type Database,
  type DatabasePlace,
} from "../../server/database.ts";
import { stopSignals } from "../../server/stop-signals.ts";
import { InvalidDatabaseUrl, parseDatabaseUrl } from "../../store/database/connection-url.ts";
import { hostsOf } from "../../store/database/hosts.ts";
import { Pool } from "../../store/database/pool.ts";
import { migrate } from "../../store/migrate.ts";
import { exitCodes, usageFailure } from "../failure.ts";
import type { DatabaseFlags } from "../definition/options.ts";
import { Output } from "../terminal/output.ts";
import { ProgressLine, waitingFor } from "../terminal/progress-line.ts";

/** The database that flags and environment name. */
export function databasePlace(flags: DatabaseFlags, environment: Environment): DatabasePlace {
  if (flags.databaseUrl !== undefined && flags.dataDir !== undefined) {
    throw usageFailure("--database-url and --data-dir exclude each other");
  }
  const text = flags.databaseUrl ?? (flags.dataDir === undefined ? environment.databaseUrl : null);
  if (text === null) return { dataDir: flags.dataDir ?? environment.dataDir };
  try {
    parseDatabaseUrl(text);
  } catch (error) {
    if (error instanceof InvalidDatabaseUrl) throw usageFailure(error.message);
    throw error;
  }
  return { url: text };
}

/**
 * Runs with the database that flags and environment name, and stops it if this started it, however the run ends: a
 * signal ends the command with 130. `mayMake`: a folder without a database gets one.
 */
export async function usingDatabase<Result>(
  flags: DatabaseFlags,
  environment: Environment,
  mayMake: boolean,
  run: (database: Database) => Promise<Result>,
): Promise<Result> {
  const place = databasePlace(flags, environment);
  const database = await openDatabase(place, { supervise: false, mayMake });
  const interrupt = () => {
    void database.stop().finally(() => process.exit(exitCodes.interrupted));
  };
  for (const signal of stopSignals) process.once(signal, interrupt);
  try {
    return await run(database);
  } finally {
    await database.stop();
    for (const signal of stopSignals) process.removeListener(signal, interrupt);
  }
}

export interface AdminContext {
  readonly output: Output;
  readonly pool: Pool;
  readonly database: Database;
  readonly now: () => Timestamp;
}

/** Runs an administrative command on a migrated database, and leaves the database as it was found. */
export async function withDatabase<Result>(
  flags: DatabaseFlags,
  environment: Environment,
  run: (context: AdminContext) => Promise<Result>,
  // Whatever is not about a first organization has nothing to find in a new database.
  mayMake = false,
): Promise<Result> {
  const output = new Output(flags, environment.isColorRefused);
  const opening = new ProgressLine(!output.isQuiet);
  opening.tell(waitingFor("opening the database"));
  return usingDatabase(flags, environment, mayMake, async (database) => {
    opening.end();
    const applied = await whenReachable(() => migrate(database.url));
    if (flags.verbose === true) describeDatabase(database, applied.length, output);
    const pool = new Pool({
      databaseUrl: database.url,
      connectionsMax: 4,
      // An administrator waits for a busy ledger; what is under way there is short.
      lockTimeoutMs: 60_000,
      answerTimeoutMs: 120_000,
    });
    try {
      return await whenReachable(() => run({ output, pool, database, now }));
    } finally {
      await pool.end();
    }
  }).finally(() => {
    opening.end();
  });
}

/** What `--verbose` says: which database, on the host that was found, without its password. */
function describeDatabase(database: Database, appliedCount: number, output: Output): void {
  const { dataDir } = database;
  const url = new URL(hostsOf(database.url).current.url);
  if (url.password !== "") url.password = "********";
  // Its parameters may hold a password, too.
  url.search = "";
  const folder = dataDir === null ? "" : ` in ${dataDir}`;
  const lines = [`> ${url.href}${folder}`, `< ${appliedCount} migrations had to be applied`];
  output.exchange({ database: url.href, dataDir, appliedMigrations: appliedCount }, lines);
}

/** The moment at which an administrative act happens. */
export function now(): Timestamp {
  return new Date().toISOString() as Timestamp;
}

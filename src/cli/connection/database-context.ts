// From flags and environment to the database: somebody's own by URL, else the embedded one.
import type { Environment } from "../../config.ts";
import { masterKeyFingerprint, parseMasterKey } from "../../core/signing.ts";
import { errorCode } from "../../core/thrown.ts";
import type { Timestamp } from "../../core/time.ts";
import { hasApiKeys, listMasterKeyFingerprints } from "../../store/api-keys.ts";
import { readDatabaseUrl } from "../../store/connection-url.ts";
import { isConnectionLost } from "../../store/database-errors.ts";
import { DatabaseUnavailable } from "../../store/database-unavailable.ts";
import { isDataFolder, openEmbeddedDatabase } from "../../store/embedded/embedded-database.ts";
import { createMasterKeyFile, loadMasterKeyFile } from "../../store/embedded/master-key-file.ts";
import { migrate } from "../../store/migrate.ts";
import { openReadPool, type ReadPool } from "../../store/read-pool.ts";
import { WriteConnections } from "../../store/write-connections.ts";
import { CommandFailure, exitCodes, usageFailure } from "../failure.ts";
import type { DatabaseFlags } from "../options.ts";
import { Output } from "../terminal/output.ts";
import { printableLines } from "../terminal/printable.ts";
import { ProgressLine, waitingFor } from "../terminal/progress-line.ts";

export interface DatabaseHandle {
  readonly url: string;
  /** The folder of the embedded database; null where the database is somebody's own. */
  readonly dataDir: string | null;
  /** Where root keeps the embedded database, if not in its folder: the user who runs it can't reach that. */
  readonly homeElsewhere?: string | null;
  /** Whether the database can be expected to answer. */
  readonly state: () => "running" | "restarting" | "failed" | "stopped";
  readonly stop: () => Promise<void>;
}

/** Opens the database that flags and environment name, starting the embedded one if need be. */
export async function openDatabase(
  flags: DatabaseFlags,
  environment: Environment,
  embedded: {
    supervise: boolean;
    /** Whether a folder without a database gets one; else that is a failure. */
    mayMake: boolean;
    /** What the embedded database has to allow where it is started by this. */
    connectionsMax?: number;
    onEvent?: (event: { message: string; error?: unknown }) => void;
  },
): Promise<DatabaseHandle> {
  if (flags.databaseUrl !== undefined && flags.dataDir !== undefined) {
    throw usageFailure("--database-url and --data-dir exclude each other");
  }
  const text = flags.databaseUrl ?? (flags.dataDir === undefined ? environment.databaseUrl : null);
  if (text !== null) {
    const url = readDatabaseUrl(text);
    if (url === null) {
      throw usageFailure(
        "the database URL must look like postgresql://user:password@host:5432/name, or for a socket like " +
          "postgresql://user:password@/name?host=/run/postgresql; there is one host",
      );
    }
    return {
      url,
      dataDir: null,
      state: () => "running",
      stop: async () => undefined,
    };
  }
  const dataDir = flags.dataDir ?? environment.dataDir;
  const { mayMake, ...options } = embedded;
  if (!mayMake && !(await isDataFolder(dataDir))) {
    throw new DatabaseUnavailable(
      `there is no database in ${dataDir} yet: \`ledgerctl serve\` or \`ledgerctl org create NAME\` makes one there, ` +
        "and --data-dir (LEDGERCTL_DATA_DIR) or --database-url (LEDGERCTL_DATABASE_URL) name another",
    );
  }
  const database = await openEmbeddedDatabase({ dataDir, ...options });
  return {
    url: database.url,
    dataDir,
    homeElsewhere: database.homeElsewhere,
    state: () => database.state(),
    stop: () => database.stop(),
  };
}

export const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Runs with a database, which is let go of however the run ends: a signal ends the command with 130. */
export async function usingDatabase<Result>(
  database: DatabaseHandle,
  run: () => Promise<Result>,
): Promise<Result> {
  const interrupt = () => {
    void database.stop().finally(() => process.exit(exitCodes.interrupted));
  };
  for (const signal of stopSignals) process.once(signal, interrupt);
  try {
    return await run();
  } finally {
    await database.stop();
    for (const signal of stopSignals) process.removeListener(signal, interrupt);
  }
}

export interface AdminContext {
  readonly output: Output;
  readonly pool: ReadPool;
  /** For what takes the locks of the write path. */
  readonly connections: WriteConnections;
  readonly database: DatabaseHandle;
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
  const database = await openDatabase(flags, environment, { supervise: false, mayMake }).finally(
    () => {
      opening.end();
    },
  );
  return usingDatabase(database, async () => {
    const applied = await whenReachable(() => migrate(database.url));
    if (flags.verbose === true) describeDatabase(database, applied.length);
    const pool = openReadPool(database.url, 4);
    const connections = new WriteConnections({
      databaseUrl: database.url,
      connectionsMax: 2,
      // An administrator waits for a busy ledger; what is under way there is short.
      lockTimeoutMs: 60_000,
      answerTimeoutMs: 120_000,
    });
    try {
      return await whenReachable(() => run({ output, pool, connections, database, now }));
    } finally {
      await Promise.all([pool.end(), connections.end()]);
    }
  });
}

/** What `--verbose` says: which database, without its password. */
function describeDatabase({ url: text, dataDir }: DatabaseHandle, appliedCount: number): void {
  const url = new URL(text);
  if (url.password !== "") url.password = "********";
  // Its parameters may hold a password, too.
  url.search = "";
  const folder = dataDir === null ? "" : ` in ${dataDir}`;
  const lines = [`> ${url.href}${folder}`, `< ${appliedCount} migrations had to be applied`];
  process.stderr.write(`${printableLines(lines.join("\n"))}\n`);
}

/** The moment at which an administrative act happens. */
export function now(): Timestamp {
  return new Date().toISOString() as Timestamp;
}

/** Says in the user's words that the database can't be reached. */
export async function whenReachable<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!isConnectionLost(error) && !isRefusedLogin(error)) throw error;
    const reason = unreachableReason(error);
    throw new DatabaseUnavailable(
      `the database can't be used: ${reason}. Check --database-url (LEDGERCTL_DATABASE_URL) and that it runs.`,
    );
  }
}

/** Only a socket is a file that may not be there. */
function unreachableReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return errorCode(cause) === "ENOENT" && cause instanceof Error && "address" in cause
    ? `there is no socket ${String(cause.address)}`
    : error.message;
}

/** Class 28: invalid authorization; 3D000: no such database. */
function isRefusedLogin(error: unknown): boolean {
  return /^(28|3D)/.test(errorCode(error) ?? "");
}

export interface MasterKeys {
  readonly current: Buffer;
  /** The current one and those before it that are still honoured. */
  readonly all: readonly Buffer[];
}

/**
 * The master keys: from the environment, else from the embedded database's folder, where one is made
 * as long as there are no API keys. Fails when a live API key was made with a master key that is not at hand.
 */
export async function loadMasterKeys(
  environment: Environment,
  pool: ReadPool,
  dataDir: string | null,
): Promise<MasterKeys> {
  const text = environment.masterKey ?? (await storedMasterKey(pool, dataDir));
  const current = parseMasterKeyOrFail(text, "LEDGERCTL_MASTER_KEY");
  const previous = environment.previousMasterKeys.map((key) =>
    parseMasterKeyOrFail(key, "LEDGERCTL_PREVIOUS_MASTER_KEYS"),
  );
  const all = [current, ...previous];
  const known = new Set(all.map(masterKeyFingerprint));
  const used = await listMasterKeyFingerprints(pool, now());
  const unknown = used.filter((fingerprint) => !known.has(fingerprint));
  if (unknown.length > 0) {
    throw new CommandFailure(
      `API keys in the database were made with another master key (fingerprint ${unknown.join(", ")}). ` +
        "Set LEDGERCTL_MASTER_KEY to that one, or add it to LEDGERCTL_PREVIOUS_MASTER_KEYS.",
      exitCodes.failed,
    );
  }
  return { current, all };
}

async function storedMasterKey(pool: ReadPool, dataDir: string | null): Promise<string> {
  if (dataDir === null) {
    throw new CommandFailure(
      "LEDGERCTL_MASTER_KEY is not set. With a database of your own, set it to 32 random bytes in base64 " +
        "(`openssl rand -base64 32`) and keep it safe: the API keys' secrets are derived from it.",
      exitCodes.failed,
    );
  }
  const stored = await loadMasterKeyFile(dataDir);
  if (stored !== undefined) return stored;
  if (await hasApiKeys(pool)) {
    throw new CommandFailure(
      `the master key is missing from ${dataDir}, but API keys were made with it. ` +
        "Put the file back, or set LEDGERCTL_MASTER_KEY.",
      exitCodes.failed,
    );
  }
  return createMasterKeyFile(dataDir);
}

function parseMasterKeyOrFail(text: string, name: string): Buffer {
  const key = parseMasterKey(text);
  if (key === null) throw usageFailure(`${name} must be 32 bytes in base64 (44 characters)`);
  return key;
}

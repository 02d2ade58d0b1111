// The embedded database as the rest of the program sees it: opened, perhaps watched and started again, stopped.
import { setTimeout as sleep } from "node:timers/promises";
import { acquireLease, connectionUrl, leaseForStopping, type Acquired } from "./acquire.ts";
import { findBinaries, locateBinaries, type Binaries } from "./binaries.ts";
import { ensureCluster } from "./cluster.ts";
import { markInitialized, openDataFolder, type DataFolder } from "./data-folder.ts";
import type { DatabaseConnection, Lease } from "./lease.ts";
import { finishStuckShutdown, stopPostgres } from "./run-postgres.ts";
import { keepLogsPruned } from "./server-log.ts";
import { isSystemError, unavailableBecause } from "./system-error.ts";

export { isDataFolder } from "./data-folder.ts";
export type { DatabaseConnection } from "./lease.ts";

const connectionsUsual = 200;
const backoffMsMin = 100;
const backoffMsMax = 5_000;

export interface EmbeddedDatabaseOptions {
  dataDir: string;
  /** True for the server: a database that goes away is started again until `stop`. */
  supervise: boolean;
  onEvent?: (event: { message: string; error?: unknown }) => void;
  /**
   * Connections that a PostgreSQL started by this opener has to allow; 200, unless more are asked for. One
   * that runs already is taken as it is.
   */
  connectionsMax?: number;
  /** A directory with PostgreSQL's bin, lib and share; the installed package's when left out. */
  binariesDir?: string;
}

/**
 * Makes the database on the first start, takes up a running one, starts one that is not, and holds a
 * lease on it until `stop`. Any number of processes may do so on one folder. Installs no signal handlers.
 * Rejects with DatabaseUnavailable for everything that the user or the machine can be the cause of.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  try {
    const native = await locateBinaries(options.binariesDir);
    const connectionsMax = Math.max(connectionsUsual, options.connectionsMax ?? 0);
    const folder = await openDataFolder(options.dataDir, connectionsMax);
    const binaries = await findBinaries(native, folder.home, folder.account);
    await ensureCluster(folder, binaries);
    await markInitialized(folder);
    const acquired = await acquireLease(folder, binaries, new AbortController().signal);
    return new EmbeddedDatabase(folder, binaries, options, acquired);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw unavailableBecause(`The data folder ${options.dataDir} cannot be used`, error);
  }
}

export class EmbeddedDatabase {
  readonly connection: DatabaseConnection;
  /** postgresql://user:password@%2Fsocket%2Fdirectory:5432/database, as pg and slonik read it. */
  readonly url: string;
  /** The directory of the cluster where root keeps it apart from the data folder; else null. */
  readonly homeElsewhere: string | null;
  readonly #folder: DataFolder;
  readonly #binaries: Binaries;
  readonly #options: EmbeddedDatabaseOptions;
  readonly #abort = new AbortController();
  #lease: Lease | undefined;
  #state: "running" | "restarting" | "failed" | "stopped" = "running";
  #restart: Promise<void> = Promise.resolve();
  #stop: Promise<void> | undefined;

  constructor(
    folder: DataFolder,
    binaries: Binaries,
    options: EmbeddedDatabaseOptions,
    acquired: Acquired,
  ) {
    this.#folder = folder;
    this.#binaries = binaries;
    this.#options = options;
    this.connection = acquired.connection;
    this.url = connectionUrl(acquired.connection);
    this.homeElsewhere = folder.home === folder.path ? null : folder.home;
    this.#watch(acquired.lease);
  }

  state(): "running" | "restarting" | "failed" | "stopped" {
    return this.#state;
  }

  /** Gives up this process's lease; stops PostgreSQL only if no other process holds one. Close pools first. */
  stop(): Promise<void> {
    this.#stop ??= this.#giveBack();
    return this.#stop;
  }

  #watch(lease: Lease): void {
    this.#lease = lease;
    this.#state = "running";
    const watches = this.#options.supervise
      ? [finishStuckShutdown(this.#folder), keepLogsPruned(this.#folder)]
      : [];
    void lease.ended.then(() => {
      for (const watch of watches) clearInterval(watch);
      this.#lost();
    });
  }

  #isStopping(): boolean {
    return this.#abort.signal.aborted;
  }

  #lost(): void {
    this.#lease = undefined;
    if (this.#isStopping()) return;
    this.#state = this.#options.supervise ? "restarting" : "failed";
    this.#report("The database ended unexpectedly");
    if (this.#options.supervise) this.#restart = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    const signal = this.#abort.signal;
    let backoffMs = backoffMsMin;
    while (!this.#isStopping()) {
      try {
        const { connection, lease } = await acquireLease(this.#folder, this.#binaries, signal);
        this.#watch(lease);
        this.#report("The database is back");
        if (connection.host !== this.connection.host)
          this.#report(`It moved to ${connection.host}`);
        return;
      } catch (error) {
        if (this.#isStopping()) return;
        this.#report("The database could not be started; trying again", error);
      }
      await sleep(backoffMs, undefined, { signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, backoffMsMax);
    }
  }

  async #giveBack(): Promise<void> {
    this.#abort.abort();
    await this.#restart;
    const lease = this.#lease ?? (await leaseForStopping(this.#folder));
    this.#state = "stopped";
    if (lease === undefined) return;
    const isLast = await lease.giveUp().catch(() => false);
    if (isLast && !(await stopPostgres(this.#folder))) {
      this.#report(`PostgreSQL in ${this.#folder.cluster} did not stop and was left alone`);
    }
    await lease.close();
  }

  #report(message: string, error?: unknown): void {
    this.#options.onEvent?.(error === undefined ? { message } : { message, error });
  }
}

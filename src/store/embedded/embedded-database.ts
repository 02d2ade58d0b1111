// The embedded database as the rest of the program sees it: opened, perhaps watched and started again, stopped.
import { setTimeout as sleep } from "node:timers/promises";
import { acquireLease, connectionUrl, leaseForStopping } from "./acquire.ts";
import { findBinaries, locateBinaries, type Installation } from "./binaries.ts";
import { ensureCluster } from "./cluster.ts";
import { markInitialized, openDataFolder } from "./data-folder.ts";
import type { DatabaseConnection, Lease } from "./lease.ts";
import { finishStuckShutdown, stopPostgres } from "./run-postgres.ts";
import { keepLogsPruned } from "./server-log.ts";
import { explaining } from "./system-error.ts";

const connectionsUsual = 200;
const backoffMsMin = 100;
const backoffMsMax = 5_000;

/** `failed`: it ended, and is not supervised. */
export type DatabaseState = "running" | "restarting" | "failed" | "stopped";

export interface EmbeddedDatabaseOptions {
  dataDir: string;
  /** True for the server: a database that goes away is started again until `stop`. */
  supervise: boolean;
  onEvent?: (message: string, error?: unknown) => void;
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
export function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  return explaining(`The data folder ${options.dataDir} cannot be used`, async () => {
    const native = await locateBinaries(options.binariesDir);
    const connectionsMax = Math.max(connectionsUsual, options.connectionsMax ?? 0);
    const opened = await openDataFolder(options.dataDir, connectionsMax);
    const binaries = await findBinaries(native, opened.home, opened.account);
    const folder = { ...opened, binaries };
    await ensureCluster(folder);
    await markInitialized(folder);
    const lease = await acquireLease(folder, new AbortController().signal);
    return new EmbeddedDatabase(folder, options, lease);
  });
}

export class EmbeddedDatabase {
  readonly dataDir: string;
  readonly connection: DatabaseConnection;
  /** postgresql://user:password@%2Fsocket%2Fdirectory:5432/database, as pg and slonik read it. */
  readonly url: string;
  /** The directory of the cluster where root keeps it apart from the data folder; else null. */
  readonly homeElsewhere: string | null;
  readonly #folder: Installation;
  readonly #options: EmbeddedDatabaseOptions;
  readonly #abort = new AbortController();
  #lease: Lease | undefined;
  #state: DatabaseState = "running";
  #restart: Promise<void> = Promise.resolve();
  #stop: Promise<void> | undefined;

  constructor(folder: Installation, options: EmbeddedDatabaseOptions, lease: Lease) {
    this.#folder = folder;
    this.#options = options;
    this.dataDir = options.dataDir;
    this.connection = lease.connection;
    this.url = connectionUrl(lease.connection);
    this.homeElsewhere = folder.home === folder.path ? null : folder.home;
    this.#watch(lease);
  }

  state(): DatabaseState {
    return this.#state;
  }

  /** Releases this process's lease; stops PostgreSQL only if no other process holds one. Close pools first. */
  stop(): Promise<void> {
    this.#stop ??= this.#release();
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
    this.#options.onEvent?.("The database ended unexpectedly");
    if (this.#options.supervise) this.#restart = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    const signal = this.#abort.signal;
    let backoffMs = backoffMsMin;
    while (!this.#isStopping()) {
      try {
        const lease = await acquireLease(this.#folder, signal);
        this.#watch(lease);
        this.#options.onEvent?.("The database is back");
        const { host } = lease.connection;
        if (host !== this.connection.host) this.#options.onEvent?.(`It moved to ${host}`);
        return;
      } catch (error) {
        if (this.#isStopping()) return;
        this.#options.onEvent?.("The database could not be started; trying again", error);
      }
      await sleep(backoffMs, undefined, { signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, backoffMsMax);
    }
  }

  async #release(): Promise<void> {
    this.#abort.abort();
    await this.#restart;
    const lease = this.#lease ?? (await leaseForStopping(this.#folder));
    this.#state = "stopped";
    if (lease === undefined) return;
    const isLast = await lease.release().catch(() => false);
    if (isLast && !(await stopPostgres(this.#folder))) {
      this.#options.onEvent?.(
        `PostgreSQL in ${this.#folder.cluster} did not stop and was left alone`,
      );
    }
    await lease.close();
  }
}

// The replica of a server process: found to be one when the server starts, and watched from then on. What reads do with it
// is in store/database/replica.ts.
import { SettingError } from "../config.ts";
import { messageOf } from "../core/thrown.ts";
import { repeat } from "../engine/repeat.ts";
import type { Log } from "../log.ts";
import { hasCitus } from "../store/citus-nodes.ts";
import { DatabaseUnavailable } from "../store/database-unavailable.ts";
import { isUnavailable } from "../store/database/errors.ts";
import { hostsOf } from "../store/database/hosts.ts";
import type { Pool } from "../store/database/pool.ts";
import { requireOwnBackends } from "../store/database/pooler.ts";
import {
  compareWith,
  readPosition,
  Replica,
  ReplicaBehind,
  UnfitReplica,
  type LogPosition,
} from "../store/database/replica.ts";
import { logOutages } from "./outage-log.ts";
import { openReplicaPool, openReplicaWatchPool } from "./pools.ts";

const watchIntervalMs = 1_000;
/** How long the one host of a replica may say nothing before it has timed out: it may only be busy. */
const silenceMsMax = 10_000;
/** Of fixed texts: everybody may read them, and what an error says may name hosts and users. */
const noAnswer = "the replica does not answer, or refuses the connection: the log says why";
const noPosition = "the primary does not tell how far its log is: the log says why";

/** Fails where the URL is not one of a replica of the database, but not where it can't be asked: it may come back. */
export async function requireReplica(url: string, primary: Pool, log: Log): Promise<void> {
  if (await hasCitus(primary)) {
    throw new SettingError(
      "--read-database-url (LEDGERCTL_READ_DATABASE_URL) can't be used with Citus: a replica of the coordinator does not " +
        "tell how far those of the workers are",
    );
  }
  const position = await readPosition(primary);
  const pool = openReplicaWatchPool(url);
  try {
    const { isSameDatabase } = await compareWith(pool, position);
    if (!isSameDatabase) {
      throw new SettingError(
        "--read-database-url (LEDGERCTL_READ_DATABASE_URL) names another database: it has to be a streaming standby of " +
          "the one that --database-url names, and the same database there",
      );
    }
    await requireOwnBackends(hostsOf(url));
  } catch (error) {
    if (error instanceof SettingError || error instanceof DatabaseUnavailable) throw error;
    log.warn({ cause: messageOf(error) }, "the replica can't be asked what it is");
  } finally {
    await pool.end();
  }
}

/** Opens the connections to a replica and watches it. `primary` is for asking how far that one is. */
export function openReplica(url: string, primary: Pool, lagMsMax: number, log: Log) {
  const pool = openReplicaPool(url);
  const watchPool = openReplicaWatchPool(url);
  const { onFailure } = logOutages(log, "reading from the replica");
  const replica = new Replica({ hosts: hostsOf(url), pool, primary }, lagMsMax, onFailure);
  const watcher = new ReplicaWatch(replica, watchPool, log);
  const stop = repeat(watchIntervalMs, () => watcher.look());
  return {
    replica,
    /** Ends without waiting for reads that are under way. */
    stop: async (): Promise<void> => {
      const stopped = stop();
      await Promise.all([stopped, watchPool.cut(), pool.cut()]);
    },
  };
}

/** Finds out how long the replica takes to have what the primary has, and whether it may be read from. */
class ReplicaWatch {
  readonly #replica: Replica;
  readonly #pool: Pool;
  readonly #log: Log;
  /** The position that the replica is to reach. */
  #target: LogPosition | null = null;
  /** When the primary was at the oldest position that the replica was not seen to reach. */
  #sinceMs: number | null = null;
  #answeredAtMs = performance.now();

  constructor(replica: Replica, pool: Pool, log: Log) {
    this.#replica = replica;
    this.#pool = pool;
    this.#log = log;
  }

  /** Never throws. */
  async look(): Promise<void> {
    const target = await this.#aim();
    if (target === null) return;
    const sinceMs = (this.#sinceMs ??= performance.now());
    let failure: unknown = null;
    try {
      await this.#pool.withConnection((connection) =>
        this.#replica.catchUp(connection, target, watchIntervalMs),
      );
      this.#sinceMs = null;
    } catch (error) {
      failure = error;
    }
    // A position in the log of a primary that failed is not reached any more.
    if (!(failure instanceof ReplicaBehind)) this.#target = null;
    this.#replica.lagMs = performance.now() - sinceMs;
    const reason = this.#judge(failure);
    this.#tell(reason, reason === noAnswer ? messageOf(failure) : null);
    this.#leave(failure);
  }

  /** Null where the primary can't be asked: nothing is read then, and nothing learned of the replica. */
  async #aim(): Promise<LogPosition | null> {
    try {
      return (this.#target ??= await this.#replica.readPosition());
    } catch (error) {
      this.#answeredAtMs = performance.now();
      if (!isUnavailable(error)) this.#tell(noPosition, messageOf(error));
      return null;
    }
  }

  /** Why the replica is not read from; null where it is. */
  #judge(failure: unknown): string | null {
    const { lagMs, lagMsMax, unusedFor } = this.#replica;
    if (failure instanceof UnfitReplica) return failure.message;
    if (failure !== null && !(failure instanceof ReplicaBehind)) return noAnswer;
    if (lagMs <= lagMsMax) return null;
    const reason = new ReplicaBehind(lagMsMax).message;
    // One that has caught up at last may be behind again: the next look tells.
    return failure === null ? (unusedFor ?? reason) : reason;
  }

  /**
   * Goes on to the next host, if there is one. Reads that are under way are left alone, unless their host is silent: then
   * they are cut, and done on the primary.
   */
  #leave(failure: unknown): void {
    const { hosts, unusedFor } = this.#replica;
    if (unusedFor !== noAnswer) this.#answeredAtMs = performance.now();
    else if (hosts.isSeveral || performance.now() - this.#answeredAtMs > silenceMsMax) {
      hosts.cutSessions(new Error(noAnswer));
    }
    if (failure !== null && unusedFor !== null) hosts.passOver(hosts.current, failure);
  }

  #tell(reason: string | null, cause: string | null): void {
    if (reason === this.#replica.unusedFor) return;
    this.#replica.unusedFor = reason;
    if (reason === null) {
      this.#log.info("long reads go to the replica");
      return;
    }
    this.#log.warn(
      { reason, ...(cause === null ? {} : { cause }) },
      "long reads go to the primary",
    );
  }
}

// Reads on a replica: a streaming standby answers where it has everything that the primary had when the read began, and
// the primary where it has not (docs/decisions/0019).
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Connection } from "./connection.ts";
import { isConnectionLost, sqlStateOf } from "./errors.ts";
import type { DatabaseHosts } from "./hosts.ts";
import type { PipelinedConnection } from "./pipeline.ts";
import { LimitedPool, type Pool, type ReadPool, type WorkLimits } from "./pool.ts";
import { sql } from "./statement.ts";

const positionRow = z.object({
  /** Of the primary, its standbys, and no other. */
  systemId: z.string(),
  databaseId: z.string(),
  timeline: z.number(),
  /** What was acknowledged or could be seen is in the log before it. */
  flushedTo: z.string(),
});

/** How far the write-ahead log of a primary is on disk, and which log it is. */
export type LogPosition = z.output<typeof positionRow>;

/** Fails with 55000 on a standby. */
export function readPosition(primary: Connection): Promise<LogPosition> {
  return primary.one(sql.type(positionRow)`
    SELECT system_identifier::text AS "systemId",
           (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS "databaseId",
           ('x' || substr(pg_walfile_name(lsn), 1, 8))::bit(32)::integer AS timeline,
           lsn::text AS "flushedTo"
      FROM pg_control_system(), pg_current_wal_flush_lsn() AS lsn`);
}

const stateRow = z.object({
  isSameDatabase: z.boolean(),
  isStandby: z.boolean(),
  isOnTimeline: z.boolean(),
  hasReplayed: z.boolean(),
});

/**
 * What a host is, compared with the position of a primary. Its timeline is that of its last restart point or, where the
 * role may see it (pg_read_all_stats), the one that it receives: after a failover it knows that one minutes earlier.
 */
export function compareWith(
  host: Connection,
  { systemId, databaseId, timeline, flushedTo }: LogPosition,
): Promise<z.output<typeof stateRow>> {
  return host.one(sql.type(stateRow)`
    SELECT system_identifier::text = ${systemId}
             AND (SELECT oid::text FROM pg_database WHERE datname = current_database()) = ${databaseId}
             AS "isSameDatabase",
           pg_is_in_recovery() AS "isStandby",
           greatest(timeline_id, (SELECT received_tli FROM pg_stat_wal_receiver)) = ${timeline}
             AS "isOnTimeline",
           coalesce(pg_last_wal_replay_lsn() >= ${flushedTo}::pg_lsn, false) AS "hasReplayed"
      FROM pg_control_system(), pg_control_checkpoint()`);
}

/** A host can't be read from: it is another database, or no standby of the one that is written to. Anybody may read why. */
export class UnfitReplica extends Error {
  override readonly name = "UnfitReplica";
}

/** A replica does not have in time what the primary has. Anybody may read it. */
export class ReplicaBehind extends Error {
  override readonly name = "ReplicaBehind";

  constructor(waitMsMax: number) {
    super(`the replica takes longer than ${waitMsMax} ms to have what the primary has`);
  }
}

const pollMs = { first: 1, longest: 50 };
/** How long a host may take to say how far it is. */
const answerMsMax = 2_000;

/**
 * Resolves once a host has everything up to a position. Rejects with ReplicaBehind if it does not in time, and with
 * UnfitReplica if it never will.
 */
export async function awaitPosition(
  host: Connection,
  position: LogPosition,
  waitMsMax: number,
): Promise<void> {
  const untilMs = performance.now() + waitMsMax;
  for (let pauseMs = pollMs.first; ; pauseMs = Math.min(2 * pauseMs, pollMs.longest)) {
    const state = await compareWith(host, position);
    if (!state.isSameDatabase) throw new UnfitReplica("the replica is one of another database");
    if (!state.isStandby) throw new UnfitReplica("the replica is no standby: it takes writes");
    if (!state.isOnTimeline) {
      throw new UnfitReplica("the replica is not known to follow the primary since its promotion");
    }
    if (state.hasReplayed) return;
    if (performance.now() + pauseMs > untilMs) throw new ReplicaBehind(waitMsMax);
    await sleep(pauseMs);
  }
}

/** A replica as a server uses it. */
export class Replica {
  readonly hosts: DatabaseHosts;
  readonly pool: Pool;
  /** How long a read waits for it at most. */
  readonly lagMsMax: number;
  /** How long it took last to have what the primary has, or has been taking. */
  lagMs = 0;
  /** Why it is not read from; null where it is. */
  unusedFor: string | null = "the replica has not been asked yet";
  /** Reads by the database that did them. */
  readonly counts = { replica: 0, primary: 0 };
  readonly #primary: Connection;
  /** Gets what the replica's database fails reads with. */
  readonly onFailure: (error: unknown) => void;

  /** `primary` is for asking its position. */
  constructor(
    parts: { hosts: DatabaseHosts; pool: Pool; primary: Connection },
    lagMsMax: number,
    onFailure: (error: unknown) => void,
  ) {
    this.hosts = parts.hosts;
    this.pool = parts.pool;
    this.#primary = parts.primary;
    this.lagMsMax = lagMsMax;
    this.onFailure = onFailure;
  }

  readPosition(): Promise<LogPosition> {
    return readPosition(this.#primary);
  }

  /** Resolves once a connection sees everything up to a position; rejects as `awaitPosition` does. */
  async catchUp(
    connection: PipelinedConnection,
    position: LogPosition,
    waitMsMax = this.lagMsMax,
  ): Promise<void> {
    // It may be to a host that hangs.
    const timer = setTimeout(() => {
      connection.cut();
    }, waitMsMax + answerMsMax);
    try {
      await awaitPosition(connection, position, waitMsMax);
    } catch (error) {
      // The next connection may be to another host.
      if (error instanceof UnfitReplica || this.hosts.isSeveral) connection.cut();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A pool of connections to the primary, whose reads its replica answers where that can. */
export class ReplicatedPool implements ReadPool {
  readonly #primary: Pool;
  readonly #replica: Replica;

  constructor(primary: Pool, replica: Replica) {
    this.#primary = primary;
    this.#replica = replica;
  }

  withConnection<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    limits: WorkLimits | null = null,
  ): Promise<Result> {
    return this.#lend(work, () => this.#replica.readPosition(), limits);
  }

  snapshot<Result>(
    work: (snapshot: Connection) => Promise<Result>,
    limits: WorkLimits | null = null,
  ): Promise<Result> {
    return this.withConnection((connection) => connection.snapshot(work), limits);
  }

  /** Each of its statements sees at least what the primary had when the first began. */
  within(limits: WorkLimits): Connection {
    let position: Promise<LogPosition> | null = null;
    const first = () => (position ??= this.#replica.readPosition());
    return new LimitedPool({ withConnection: (work) => this.#lend(work, first, limits) }, limits);
  }

  async #lend<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    position: () => Promise<LogPosition>,
    limits: WorkLimits | null,
  ): Promise<Result> {
    const { unusedFor, pool, counts } = this.#replica;
    if (unusedFor === null) {
      const beganMs = performance.now();
      try {
        const target = await position();
        const result = await pool.withConnection(async (connection) => {
          await this.#replica.catchUp(connection, target);
          return work(connection);
        }, limits);
        counts.replica += 1;
        return result;
      } catch (error) {
        if (isOver(limits, beganMs) || !isOfReplica(error)) throw error;
        // What is wrong with the replica itself, whoever watches it tells.
        if (!isUnused(error) && !isConnectionLost(error)) this.#replica.onFailure(error);
      }
    }
    counts.primary += 1;
    return this.#primary.withConnection(work, limits);
  }
}

/** Whether nobody waits for the result any more, or the time for it is over. */
function isOver(limits: WorkLimits | null, beganMs: number): boolean {
  const { signal, timeoutMs = Infinity } = limits ?? {};
  return signal?.aborted === true || performance.now() - beganMs >= timeoutMs;
}

function isUnused(error: unknown): boolean {
  return error instanceof ReplicaBehind || error instanceof UnfitReplica;
}

/** Whether the primary may succeed where the replica failed; anything else is a bug. */
function isOfReplica(error: unknown): boolean {
  return isUnused(error) || isConnectionLost(error) || sqlStateOf(error) !== null;
}

// A pool of connections: pg's own, because slonik's loses the places of connections that break
// (docs/decisions/0007).
import { Pool as PgPool, type PoolClient } from "pg";
import { Connection } from "./connection.ts";
import { asConnectionError, ConnectionBroken } from "./errors.ts";
import { hostsOf, type DatabaseHosts } from "./hosts.ts";
import { KeptPlans } from "./kept-plans.ts";
import { PipelinedConnection, type Transaction } from "./pipeline.ts";
import { Places } from "./places.ts";
import { sessionClass, type SessionOptions } from "./session.ts";
import type { Statement } from "./statement.ts";
import { pgTypes } from "./value-parsers.ts";

export interface PoolOptions {
  readonly databaseUrl: string;
  readonly connectionsMax: number;
  /** How long what is sent in one tick may go unanswered before its connection counts as broken. */
  readonly answerTimeoutMs: number;
  /** Shown in pg_stat_activity behind "ledgerctl". */
  readonly purpose?: string;
  /**
   * For pools that lock: how long a statement waits for a lock before it fails (SQLSTATE 55P03). A transaction that
   * is left alone for 30 s is then ended by the database, too.
   */
  readonly lockTimeoutMs?: number;
  /** Connections that work with a signal, which others wait for, leaves to the rest; 0 unless given. */
  readonly reservedConnections?: number;
  /**
   * Has the database cancel a statement that takes longer than `answerTimeoutMs`, so that its connection is kept.
   * Not where acknowledged writes are made: a COMMIT whose wait for a standby is cancelled looks as if it had had one.
   */
  readonly cancelsLateStatements?: boolean;
  /**
   * Keeps statements' errors out of the database's log: they are answered here, and every duplicate is
   * several. Only a superuser may, as ledgerctl is in the embedded database.
   */
  readonly isLogSuppressed?: boolean;
  /**
   * Prepares statements and keeps their plans up to a second, but for those in `transaction`: for short ones that
   * are sent over and over, whose planning is a third of their work. Elsewhere each is planned for its values.
   */
  readonly keepsPlans?: boolean;
}

/** How a pool of connections is used. */
export interface PoolUsage {
  /** Open connections, and those of them that are in use. */
  readonly open: number;
  readonly busy: number;
  readonly max: number;
  /** Who waits for a connection. */
  readonly waiting: number;
  /** Connections that could not be had, or that broke in use, since the start. */
  readonly failures: number;
}

/** What ends work early whose result nobody waits for any more. */
export interface WorkLimits {
  readonly signal?: AbortSignal | null;
  readonly timeoutMs?: number;
}

/** What may be read from: a pool, or a pool with a replica of its database. */
export interface ReadPool {
  /** Runs statements on one connection, which is cut when `limits` say that nobody waits for them any more. */
  withConnection<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    limits?: WorkLimits | null,
  ): Promise<Result>;
  /** Runs reads that all see the database as it was at the first of them, whatever is written meanwhile. */
  snapshot<Result>(
    work: (snapshot: Connection) => Promise<Result>,
    limits?: WorkLimits | null,
  ): Promise<Result>;
  /** The pool for somebody who may go away: `limits` are for each of their statements. */
  within(limits: WorkLimits): Connection;
}

const connectTimeoutMs = 5_000;
/** A statement that takes no longer than this ends soon enough after its caller is gone. */
const shortMs = 10_000;

/** Each statement runs on a connection of its own, which is made when it is first needed. */
export class Pool extends Connection implements ReadPool {
  readonly #pool: PgPool;
  readonly #hosts: DatabaseHosts;
  /** Connections that are in use. */
  readonly #lent = new Map<PipelinedConnection, PoolClient>();
  readonly #plans: WeakMap<PoolClient, KeptPlans> | null;
  /** For work with a signal. */
  readonly #places: Places;
  /** Rejects those who wait for a connection. */
  readonly #waiting = new Set<(error: Error) => void>();
  #failures = 0;

  constructor(options: PoolOptions) {
    super();
    this.#places = new Places(
      options.connectionsMax - (options.reservedConnections ?? 0),
      connectTimeoutMs,
    );
    this.#plans = options.keepsPlans === true ? new WeakMap() : null;
    this.#hosts = hostsOf(options.databaseUrl);
    this.#pool = new PgPool({
      Client: sessionClass(sessionOptions(options, this.#hosts)),
      // Bounds the wait for a free connection too.
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 60_000,
      max: options.connectionsMax,
    });
    // A connection that breaks while idle is replaced at its next use; no caller is affected.
    this.#pool.on("error", () => undefined);
  }

  get usage(): PoolUsage {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    const busy = totalCount - idleCount;
    const { max } = options;
    return { open: totalCount, busy, max, waiting: waitingCount, failures: this.#failures };
  }

  /** Whether others wait for a connection. */
  get isWanted(): boolean {
    return this.#pool.waitingCount > 0;
  }

  /** Waits for a connection. Whoever has it ends every transaction that it begins, and gives it back. */
  async borrow(): Promise<PipelinedConnection> {
    const client = await this.#connect();
    const connection = new PipelinedConnection(client, this.#plansOf(client));
    this.#lent.set(connection, client);
    return connection;
  }

  /** Takes a connection back; one that broke, or with a transaction that was not ended, is dropped. */
  giveBack(connection: PipelinedConnection, isCancelled = false): void {
    const client = this.#lent.get(connection);
    if (client === undefined) return;
    this.#lent.delete(connection);
    connection.letGo();
    // One that was cut for its caller is no trouble of the database's.
    if (!connection.isReusable && !isCancelled) this.#failures += 1;
    client.release(!connection.isReusable);
  }

  async withConnection<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    limits: WorkLimits | null = null,
  ): Promise<Result> {
    if (limits === null) return this.#lend(work, {});
    await this.#places.take();
    try {
      return await this.#lend(work, limits);
    } finally {
      this.#places.giveBack();
    }
  }

  async #lend<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    { signal = null, timeoutMs }: WorkLimits,
  ): Promise<Result> {
    const connection = await this.borrow();
    let isCancelled = signal?.aborted === true;
    const cancel = () => {
      isCancelled = true;
      connection.cut();
    };
    // A signal of AbortSignal.timeout may be collected before it fires.
    const timer = timeoutMs === undefined ? undefined : setTimeout(cancel, timeoutMs);
    signal?.addEventListener("abort", cancel);
    try {
      if (isCancelled) throw new ConnectionBroken("nobody waits for the answer any more");
      return await work(connection);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      this.giveBack(connection, isCancelled);
    }
  }

  /** Runs `work` in a transaction, which it commits itself; what it does not commit is rolled back. */
  withTransaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.withConnection((connection) => connection.withTransaction(work));
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.withConnection((connection) => connection.transaction(work));
  }

  snapshot<Result>(
    work: (snapshot: Connection) => Promise<Result>,
    limits: WorkLimits | null = null,
  ): Promise<Result> {
    return this.withConnection((connection) => connection.snapshot(work), limits);
  }

  within(limits: WorkLimits): Connection {
    return new LimitedPool(this, limits);
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    return this.withConnection((connection) => connection.sendStatement(statement));
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /** Ends without waiting for what is under way, or waits for a connection: it fails as when one breaks. */
  async cut(): Promise<void> {
    const ended = this.#pool.end();
    for (const reject of this.#waiting) reject(new ConnectionBroken("the connections are closed"));
    this.#waiting.clear();
    for (const connection of this.#lent.keys()) connection.cut();
    await ended;
  }

  async #connect(): Promise<PoolClient> {
    const connected = new Promise<PoolClient>((resolve, reject) => {
      this.#waiting.add(reject);
      this.#hosts
        .inTurn(() => this.#pool.connect())
        .then(
          (client) => {
            // One that comes after the pool was cut is not lent any more.
            if (this.#waiting.delete(reject)) resolve(client);
            else client.release(true);
          },
          (error: unknown) => {
            this.#waiting.delete(reject);
            reject(asConnectionError(error));
          },
        );
    });
    try {
      return await connected;
    } catch (error) {
      this.#failures += 1;
      throw error;
    }
  }

  #plansOf(client: PoolClient): KeptPlans | null {
    if (this.#plans === null) return null;
    const plans = this.#plans.get(client) ?? new KeptPlans();
    this.#plans.set(client, plans);
    return plans;
  }
}

/** A pool as a connection; each statement by itself, on any of its connections, within limits. */
export class LimitedPool extends Connection {
  readonly #pool: Pick<ReadPool, "withConnection">;
  readonly #limits: WorkLimits;

  constructor(pool: Pick<ReadPool, "withConnection">, limits: WorkLimits) {
    super();
    this.#pool = pool;
    this.#limits = limits;
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    return this.#pool.withConnection(
      (connection) => connection.sendStatement(statement),
      this.#limits,
    );
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.#pool.withConnection((connection) => connection.transaction(work), this.#limits);
  }
}

function sessionOptions(options: PoolOptions, hosts: DatabaseHosts): SessionOptions {
  const { answerTimeoutMs, lockTimeoutMs, keepsPlans, cancelsLateStatements, purpose } = options;
  return {
    hosts,
    applicationName: purpose === undefined ? "ledgerctl" : `ledgerctl ${purpose}`,
    settings: {
      plan_cache_mode: keepsPlans === true ? "force_generic_plan" : "force_custom_plan",
      ...(lockTimeoutMs === undefined
        ? {}
        : { lock_timeout: `${lockTimeoutMs}ms`, idle_in_transaction_session_timeout: "30s" }),
      ...(cancelsLateStatements === true ? { statement_timeout: `${answerTimeoutMs}ms` } : {}),
      // In the order of this setting, errors come below plain messages.
      ...(options.isLogSuppressed === true ? { log_min_messages: "log" } : {}),
    },
    driver: {
      types: pgTypes,
      pipeline: true,
      keepAlive: true,
      // A statement that the database itself cancels is answered in between.
      query_timeout: answerTimeoutMs + (cancelsLateStatements === true ? 1_000 : 0),
    },
    detectsDisconnects: answerTimeoutMs > shortMs,
  };
}

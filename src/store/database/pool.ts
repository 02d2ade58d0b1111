// A pool of connections, which are opened when they are needed and closed when they have not been for a while. It is
// neither slonik's nor pg's (docs/decisions/0007).
import { Connection } from "./connection.ts";
import { asConnectionError, ConnectionBroken } from "./errors.ts";
import { hostsOf, type DatabaseHosts } from "./hosts.ts";
import { KeptPlans } from "./kept-plans.ts";
import { exportSnapshot, PipelinedConnection, type Transaction } from "./pipeline.ts";
import { Places } from "./places.ts";
import { sessionOptions, type PoolOptions } from "./pool-options.ts";
import { openSession, sessionMaker, type Session } from "./session.ts";
import { command, type Statement } from "./statement.ts";

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

/** How long somebody waits for a connection while all are in use. */
const waitMsMax = 5_000;
/** A connection that nobody used for so long is closed, or a little later. */
const idleMsMax = 60_000;

/** Whatever the database's own settings say. */
const mayWait = command`SET LOCAL idle_in_transaction_session_timeout = 0`;

/** Each statement runs on a connection of its own, which is made when it is first needed. */
export class Pool extends Connection implements ReadPool {
  readonly #connectionsMax: number;
  readonly #keepsPlans: boolean;
  readonly #hosts: DatabaseHosts;
  readonly #openSession: () => Promise<Session>;
  /** One for each connection that there may be. */
  readonly #places: Places;
  /** For work with a signal. */
  readonly #limitedPlaces: Places;
  /** Rejects those whose connection is being opened. */
  readonly #opening = new Set<(error: Error) => void>();
  /** Connections that are in use. */
  readonly #lent = new Set<PipelinedConnection>();
  /** The others; the one that was used last is lent next. */
  readonly #idle: PipelinedConnection[] = [];
  /** How many of them, the first ones, were not used since the timer began. */
  #unused = 0;
  #idleTimer: NodeJS.Timeout | null = null;
  #failures = 0;
  #ended: Promise<void> | null = null;
  #onNone = (): void => undefined;

  constructor(options: PoolOptions) {
    super();
    const { connectionsMax, reservedConnections = 0 } = options;
    this.#connectionsMax = connectionsMax;
    this.#keepsPlans = options.keepsPlans === true;
    this.#hosts = hostsOf(options.databaseUrl);
    const session = sessionOptions(options, this.#hosts);
    const makeSession = sessionMaker(session);
    this.#openSession = () => openSession(session, makeSession);
    this.#places = new Places(connectionsMax, waitMsMax);
    this.#limitedPlaces = new Places(connectionsMax - reservedConnections, waitMsMax);
  }

  get usage(): PoolUsage {
    const busy = this.#lent.size + this.#opening.size;
    return {
      open: busy + this.#idle.length,
      busy,
      max: this.#connectionsMax,
      waiting: this.#places.waiting,
      failures: this.#failures,
    };
  }

  /** Whether others wait for a connection. */
  get isWanted(): boolean {
    return this.#places.waiting > 0;
  }

  /** Waits for a connection. Whoever has it ends every transaction that it begins, and gives it back. */
  async borrow(): Promise<PipelinedConnection> {
    try {
      await this.#places.take();
    } catch (error) {
      this.#failures += 1;
      throw error;
    }
    try {
      if (this.#ended !== null) throw closed();
      this.#hosts.requireUse();
      const connection = this.#idle.pop() ?? (await this.#open());
      this.#unused = Math.min(this.#unused, this.#idle.length);
      this.#lent.add(connection);
      return connection;
    } catch (error) {
      this.#failures += 1;
      this.#leave();
      throw error;
    }
  }

  /** Takes a connection back; one that broke, or with a transaction that was not ended, is dropped. */
  giveBack(connection: PipelinedConnection, isCancelled = false): void {
    if (!this.#lent.delete(connection)) return;
    // One that was cut for its caller is no trouble of the database's.
    if (!connection.isReusable && !isCancelled) this.#failures += 1;
    if (connection.isReusable && this.#ended === null) {
      this.#idle.push(connection);
      this.#idleTimer ??= this.#closeUnusedLater();
    } else {
      connection.close();
    }
    this.#leave();
  }

  async withConnection<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
    limits: WorkLimits | null = null,
  ): Promise<Result> {
    if (limits === null) return this.#lend(work, {});
    await this.#limitedPlaces.take();
    try {
      return await this.#lend(work, limits);
    } finally {
      this.#limitedPlaces.giveBack();
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

  /** Runs reads on two connections that see the database as it was at one moment. One may wait long for the other. */
  twoOfOneSnapshot<Result>(
    work: (first: Connection, second: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.snapshot(async (first) => {
      const id = await exportSnapshot(first);
      return this.withConnection((connection) =>
        connection.snapshot(async (second) => {
          await Promise.all([first.run(mayWait), second.run(mayWait)]);
          return work(first, second);
        }, id),
      );
    });
  }

  within(limits: WorkLimits): Connection {
    return new LimitedPool(this, limits);
  }

  protected override async send(statement: Statement): Promise<readonly object[]> {
    const connection = await this.borrow();
    try {
      return await connection.sendStatement(statement);
    } finally {
      this.giveBack(connection);
    }
  }

  /** Lends no connection any more; resolves when all that were lent have come back. */
  end(): Promise<void> {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    for (const connection of this.#idle.splice(0)) connection.close();
    return (this.#ended ??= new Promise((resolve) => {
      if (this.usage.busy === 0) resolve();
      else this.#onNone = resolve;
    }));
  }

  /** Ends without waiting for what is under way, or waits for a connection: it fails as when one breaks. */
  async cut(): Promise<void> {
    const ended = this.end();
    this.#places.rejectWaiting(closed());
    for (const reject of this.#opening) reject(closed());
    this.#opening.clear();
    for (const connection of this.#lent) connection.cut();
    await ended;
  }

  /** Opens a connection for somebody who has a place. */
  #open(): Promise<PipelinedConnection> {
    return new Promise((resolve, reject) => {
      this.#opening.add(reject);
      this.#openSession().then(
        (session) => {
          const plans = this.#keepsPlans ? new KeptPlans() : null;
          const connection = new PipelinedConnection(session, plans);
          session.on("error", () => {
            this.#dropIdle(connection);
          });
          // One that comes after the pool was cut is not lent any more.
          if (!this.#opening.delete(reject)) {
            connection.close();
            return;
          }
          this.#lent.add(connection);
          resolve(connection);
        },
        (error: unknown) => {
          this.#opening.delete(reject);
          reject(asConnectionError(error));
        },
      );
    });
  }

  /** A connection that breaks while idle is replaced at its next use; no caller is affected. */
  #dropIdle(connection: PipelinedConnection): void {
    const index = this.#idle.indexOf(connection);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    connection.close();
  }

  /** Gives a place to who waits, or tells who waits for the end. */
  #leave(): void {
    this.#places.giveBack();
    if (this.#ended !== null && this.usage.busy === 0) this.#onNone();
  }

  /** After a while closes those that nobody used in it. */
  #closeUnusedLater(): NodeJS.Timeout {
    this.#unused = this.#idle.length;
    return setTimeout(() => {
      for (const connection of this.#idle.splice(0, this.#unused)) connection.close();
      this.#idleTimer = this.#idle.length > 0 ? this.#closeUnusedLater() : null;
    }, idleMsMax).unref();
  }
}

function closed(): ConnectionBroken {
  return new ConnectionBroken("the connections are closed");
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

// What the engine takes for its pool: connections to the simulated database, lent one by one, as src/store/database/pool.ts
// does.
import { Connection } from "../../../src/store/database/connection.ts";
import { ConnectionBroken } from "../../../src/store/database/errors.ts";
import { PipelinedConnection, type Transaction } from "../../../src/store/database/pipeline.ts";
import type { Pool, PoolUsage } from "../../../src/store/database/pool.ts";
import type { Statement } from "../../../src/store/database/statement.ts";
import type { Cluster } from "./cluster.ts";
import { SimulatedClient } from "./simulated-client.ts";

const connectTimeoutMs = 5_000;

export interface SimulatedPoolOptions {
  readonly cluster: Cluster;
  /** Which server's it is. */
  readonly owner: number;
  readonly connectionsMax: number;
  readonly delayMs: () => number;
}

export class SimulatedPool extends Connection {
  readonly #options: SimulatedPoolOptions;
  readonly #idle: SimulatedClient[] = [];
  readonly #connections = new Map<SimulatedClient, PipelinedConnection>();
  readonly #lent = new Map<PipelinedConnection, SimulatedClient>();
  readonly #waiting: ((client: SimulatedClient | null) => void)[] = [];
  #open = 0;
  /** Of a process that was killed: nothing that is asked of it is ever answered. */
  #isDead = false;

  constructor(options: SimulatedPoolOptions) {
    super();
    this.#options = options;
  }

  /** As the engine knows it. */
  get asPool(): Pool {
    return this as unknown as Pool;
  }

  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  get usage(): Pick<PoolUsage, "busy" | "max"> {
    return { busy: this.#open - this.#idle.length, max: this.#options.connectionsMax };
  }

  /** Connections that are in use. */
  get lent(): readonly SimulatedClient[] {
    return [...this.#lent.values()];
  }

  /** The process is gone, and the database is told by the system, or (`isSilent`) is not. */
  die(isSilent: boolean): void {
    this.#isDead = true;
    for (const client of [...this.#idle, ...this.#lent.values()]) {
      if (isSilent) client.link.break("silent");
      else client.close();
    }
  }

  async borrow(): Promise<PipelinedConnection> {
    const client = await this.#take();
    const connection =
      this.#connections.get(client) ?? new PipelinedConnection(client.asSession, null);
    this.#connections.set(client, connection);
    this.#lent.set(connection, client);
    return connection;
  }

  giveBack(connection: PipelinedConnection): void {
    const client = this.#lent.get(connection);
    if (client === undefined) return;
    this.#lent.delete(connection);
    if (!connection.isReusable || client.isBroken) {
      this.#connections.delete(client);
      client.close();
      this.#free(null);
    } else this.#free(client);
  }

  async withConnection<Result>(
    work: (connection: PipelinedConnection) => Promise<Result>,
  ): Promise<Result> {
    const connection = await this.borrow();
    try {
      return await work(connection);
    } finally {
      this.giveBack(connection);
    }
  }

  withTransaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.withConnection((connection) => connection.withTransaction(work));
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.withConnection((connection) => connection.transaction(work));
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    return this.withConnection((connection) => connection.sendStatement(statement));
  }

  /** The pool for somebody who waits for a while only: what takes longer is cut off. */
  within({ timeoutMs }: { readonly timeoutMs?: number }): Connection {
    return new LimitedPool(this, timeoutMs ?? Infinity);
  }

  async #take(): Promise<SimulatedClient> {
    if (this.#isDead) return new Promise<never>(() => undefined);
    const idle = this.#takeIdle();
    if (idle !== null) return idle;
    if (this.#open === this.#options.connectionsMax) {
      const handed = await this.#waitForOne();
      if (handed !== null) return handed;
    } else this.#open += 1;
    return this.#connect();
  }

  #takeIdle(): SimulatedClient | null {
    for (let client = this.#idle.pop(); client !== undefined; client = this.#idle.pop()) {
      if (!client.isBroken) return client;
      this.#connections.delete(client);
      this.#open -= 1;
    }
    return null;
  }

  /** A connection that somebody gives back, or null for the place of one that broke. */
  #waitForOne(): Promise<SimulatedClient | null> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(new ConnectionBroken("timeout exceeded when trying to connect"));
      }, connectTimeoutMs);
      const enter = (client: SimulatedClient | null) => {
        clearTimeout(timer);
        resolve(client);
      };
      this.#waiting.push(enter);
    });
  }

  #free(client: SimulatedClient | null): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(client);
    else if (client === null) this.#open -= 1;
    else this.#idle.push(client);
  }

  async #connect(): Promise<SimulatedClient> {
    const { cluster, owner, delayMs } = this.#options;
    await new Promise<void>((resolve) => setTimeout(resolve, 2 * delayMs()));
    if (this.#isDead) return new Promise<never>(() => undefined);
    if (cluster.isUp) return new SimulatedClient(cluster, owner, delayMs);
    this.#free(null);
    throw new ConnectionBroken("connect ECONNREFUSED");
  }
}

class LimitedPool extends Connection {
  readonly #pool: SimulatedPool;
  readonly #timeoutMs: number;

  constructor(pool: SimulatedPool, timeoutMs: number) {
    super();
    this.#pool = pool;
    this.#timeoutMs = timeoutMs;
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    return this.#lend((connection) => connection.sendStatement(statement));
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.#lend((connection) => connection.transaction(work));
  }

  #lend<Result>(work: (connection: PipelinedConnection) => Promise<Result>): Promise<Result> {
    return this.#pool.withConnection(async (connection) => {
      const timer = setTimeout(() => {
        connection.cut();
      }, this.#timeoutMs);
      try {
        return await work(connection);
      } finally {
        clearTimeout(timer);
      }
    });
  }
}

// The pool for reads and for administration: slonik's typed statements on pg's own pool, with rows
// checked against their schemas. Slonik's pool is not used: in it a connection that breaks while a query
// is under way keeps its place for ever (docs/decisions/0007).
import { Client, Pool, type PoolClient } from "pg";
import { sql, type QuerySqlToken } from "slonik";
import type { z } from "zod";
import { connectionTarget } from "./connection-url.ts";
import { asConnectionError, ConnectionBroken, isConnectionLost } from "./database-errors.ts";
import { noticingCuts } from "./noticed-cuts.ts";
import type { Statement } from "./sent-statement.ts";
import { pgTypes } from "./value-parsers.ts";
import { poolUsage, type PoolUsage, type StatementSender } from "./write-connections.ts";

type Send = (
  text: string,
  values: unknown[],
) => Promise<{ readonly rows: object[]; readonly rowCount: number | null }>;

/** Sends statements made with slonik's `sql`; how many rows there must be is in each method's name. */
export class ReadConnection implements StatementSender {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async query<Row extends z.ZodType>(
    statement: QuerySqlToken<Row>,
  ): Promise<{ readonly rows: readonly z.output<Row>[]; readonly rowCount: number }> {
    const text = statement.sql.replace(/\$slonik_(\d+)/g, "$$$1");
    const { rows, rowCount } = await this.#send(text, [...statement.values]);
    return { rows: rows.map((row) => statement.parser.parse(row)), rowCount: rowCount ?? 0 };
  }

  async any<Row extends z.ZodType>(
    statement: QuerySqlToken<Row>,
  ): Promise<readonly z.output<Row>[]> {
    return (await this.query(statement)).rows;
  }

  async maybeOne<Row extends z.ZodType>(
    statement: QuerySqlToken<Row>,
  ): Promise<z.output<Row> | null> {
    const rows = await this.any(statement);
    if (rows.length > 1) throw new Error("a statement for one row gave several");
    return rows[0] ?? null;
  }

  async one<Row extends z.ZodType>(statement: QuerySqlToken<Row>): Promise<z.output<Row>> {
    const row = await this.maybeOne(statement);
    if (row === null) throw new Error("a statement for one row gave none");
    return row;
  }

  /** A read that the write path has too, whose statement does not say what its rows are. */
  async send<Row>({ text }: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await this.#send(text, [...values]);
    return rows as Row[];
  }

  /** Within a transaction, a part of it; on a pool, a transaction of its own. */
  transaction<Result>(work: (transaction: ReadConnection) => Promise<Result>): Promise<Result> {
    return work(this);
  }
}

/** Statements of administration as a part of a transaction of the write path. */
export function readingThrough(sender: StatementSender): ReadConnection {
  return new ReadConnection(async (text, values) => {
    // Without a name it is not kept as a prepared statement.
    const rows = await sender.send<object>({ name: "", text }, values);
    return { rows, rowCount: rows.length };
  });
}

/** Each statement on a connection of its own. */
export class ReadPool extends ReadConnection {
  readonly #pool: Pool;
  #failures = 0;

  constructor(pool: Pool, answerTimeoutMs: number) {
    super(async (text, values) => {
      try {
        return await answeredWithin(answerTimeoutMs, pool.query<object>(text, values));
      } catch (error) {
        const failure = asConnectionError(error);
        if (isConnectionLost(failure)) this.#failures += 1;
        throw failure;
      }
    });
    this.#pool = pool;
  }

  get usage(): PoolUsage {
    return poolUsage(this.#pool, this.#failures);
  }

  /** Runs `work` in a READ COMMITTED transaction; its failure rolls everything back. */
  override async transaction<Result>(
    work: (transaction: ReadConnection) => Promise<Result>,
  ): Promise<Result> {
    return this.#within("BEGIN ISOLATION LEVEL READ COMMITTED", work);
  }

  /** Runs reads that all see the database as it was at the first of them, whatever is written meanwhile. */
  async snapshot<Result>(work: (snapshot: ReadConnection) => Promise<Result>): Promise<Result> {
    return this.#within("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  async #within<Result>(
    begin: string,
    work: (transaction: ReadConnection) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.#connect();
    const send: Send = async (text, values) => {
      try {
        return await client.query<object>(text, values);
      } catch (error) {
        throw asConnectionError(error);
      }
    };
    let broken: Error | undefined;
    try {
      await send(begin, []);
      const result = await work(new ReadConnection(send));
      await send("COMMIT", []);
      return result;
    } catch (error) {
      await send("ROLLBACK", []).catch((failure: unknown) => {
        broken = new ConnectionBroken(failure);
        this.#failures += 1;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** The same reads for somebody who may go away: what runs for them when `signal` says so is given up. */
  until(signal: AbortSignal): ReadConnection {
    return new ReadConnection(async (text, values) => {
      const client = await this.#connect();
      const cut = () => client.connection.stream.destroy();
      if (signal.aborted) cut();
      signal.addEventListener("abort", cut);
      let failure: Error | undefined;
      try {
        return await client.query<object>(text, values);
      } catch (error) {
        failure = asConnectionError(error);
        if (!signal.aborted && isConnectionLost(failure)) this.#failures += 1;
        throw failure;
      } finally {
        signal.removeEventListener("abort", cut);
        client.release(failure ?? signal.aborted);
      }
    });
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      this.#failures += 1;
      throw asConnectionError(error);
    }
  }
}

/** What is given up is left to the pool, which drops the connection when its own time is over. */
async function answeredWithin<Reply>(timeoutMs: number, reply: Promise<Reply>): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectionBroken(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Opens the pool; connections are made when they are first needed. `answerTimeoutMs` is for a statement
 * with the wait for a connection, of which 5 s at most; a transaction has it for each of its statements.
 */
export function openReadPool(
  databaseUrl: string,
  connectionsMax: number,
  answerTimeoutMs = 60_000,
): ReadPool {
  const target = connectionTarget(databaseUrl, "ledgerctl", {
    plan_cache_mode: "force_custom_plan",
  });
  const pool = new Pool({
    connectionString: target.url,
    ssl: target.ssl,
    types: pgTypes,
    keepAlive: true,
    statement_timeout: answerTimeoutMs,
    // A database that runs cancels the statement itself, and the connection is kept.
    query_timeout: answerTimeoutMs + 1_000,
    // Bounds the wait for a free connection too.
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    max: connectionsMax,
    Client,
    ...noticingCuts(answerTimeoutMs),
  });
  // What breaks while nobody waits for it is told by the next statement.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return new ReadPool(pool, answerTimeoutMs);
}

/** Whether the database answers a query. */
export async function pingDatabase(pool: ReadConnection): Promise<boolean> {
  const { rowCount } = await pool.query(sql.unsafe`SELECT 1`);
  return rowCount === 1;
}

// Connections of the write path: pg clients that send statements in a pipeline, and transactions on
// them. No rule and no statement of the books is here.
import type { Duplex } from "node:stream";
import { Client, Pool, type PoolClient } from "pg";
import { assert } from "../core/errors.ts";
import { connectionTarget } from "./connection-url.ts";
import {
  asConnectionError,
  CommitAnswerLost,
  isConnectionLost,
  isRolledBack,
  isStatementRefused,
  RecordedInPart,
} from "./database-errors.ts";
import { noticingCuts } from "./noticed-cuts.ts";
import { sendStatements, SentStatement, type Statement } from "./sent-statement.ts";
import { pgTypes } from "./value-parsers.ts";

/** What a statement can be sent through. Sending does not wait for what was sent before. */
export interface StatementSender {
  send<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

export interface WriteTransaction extends StatementSender {
  /**
   * Sends COMMIT right behind the statements whose replies are `pending` and resolves when the
   * database has flushed it. Throws the first failure among them (nothing was written then), or
   * CommitAnswerLost when the connection broke and nobody can tell.
   */
  commit(pending: readonly Promise<unknown>[]): Promise<void>;
  /** Undoes what was sent; nothing happens when it has ended. Never throws: a connection that can't is dropped. */
  rollBack(): Promise<void>;
}

/** A connection that its borrower has alone until it is given back. */
export interface BorrowedConnection {
  /**
   * Begins a READ COMMITTED transaction; BEGIN travels with its first statement. It may begin before the one
   * before is answered, once that one's end was sent: the database takes one after the other.
   */
  begin(): WriteTransaction;
  /** Whether others wait for a connection. */
  readonly isWanted: boolean;
  /** Gives it back to the pool; one that broke, or with a transaction that was not ended, is dropped. */
  giveBack(): void;
}

interface WriteConnectionOptions {
  readonly databaseUrl: string;
  readonly connectionsMax: number;
  /** How long a statement waits for a lock before it gives the connection back (SQLSTATE 55P03). */
  readonly lockTimeoutMs: number;
  /** How long what is sent in one step may go unanswered before the connection is given up as broken. */
  readonly answerTimeoutMs: number;
  /** The same for a statement that only reads; 5 s, unless given: nothing has to be found out about it. */
  readonly readTimeoutMs?: number;
  /**
   * Keeps errors of statements out of the database's log: they are answered here, and every duplicate is
   * several. Only a superuser may, as ledgerctl is in the embedded database.
   */
  readonly isLogSpared?: boolean;
  /**
   * Keeps the plans of statements, but for those in `transaction`, up to a second: for short ones that are sent
   * over and over, whose planning is a third of their work. Where it is not asked for, each is planned anew.
   */
  readonly keepsPlans?: boolean;
}

const readTimeoutMsDefault = 5_000;

const beginTransaction = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const planEachTime = {
  name: "plan_each_time",
  text: "SET LOCAL plan_cache_mode = force_custom_plan",
};
const discardPlans = { name: "discard_plans", text: "DISCARD PLANS" };
/** How long a plan serves at the most. */
const plansKeptMsMax = 1_000;

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

/** How a pool of pg's is used; `failures` are for its owner to count. */
export function poolUsage(pool: Pool, failures: number): PoolUsage {
  const { totalCount, idleCount, waitingCount, options } = pool;
  const busy = totalCount - idleCount;
  return { open: totalCount, busy, max: options.max, waiting: waitingCount, failures };
}

export class WriteConnections {
  readonly #pool: Pool;
  readonly #readTimeoutMs: number;
  /** Connections that are in use. */
  readonly #lent = new Set<PoolClient>();
  readonly #keptPlans: WeakMap<PoolClient, KeptPlans> | null;
  #failures = 0;

  constructor(options: WriteConnectionOptions) {
    this.#readTimeoutMs = options.readTimeoutMs ?? readTimeoutMsDefault;
    this.#keptPlans = options.keepsPlans === true ? new WeakMap() : null;
    const target = connectionTarget(options.databaseUrl, "ledgerctl write", {
      plan_cache_mode: options.keepsPlans === true ? "force_generic_plan" : "force_custom_plan",
      lock_timeout: `${options.lockTimeoutMs}ms`,
      idle_in_transaction_session_timeout: "30s",
      // In the order of this setting, errors come below plain messages.
      ...(options.isLogSpared === true ? { log_min_messages: "log" } : {}),
    });
    const config = {
      connectionString: target.url,
      ssl: target.ssl,
      types: pgTypes,
      pipeline: true,
      keepAlive: true,
      query_timeout: options.answerTimeoutMs,
      connectionTimeoutMillis: 5_000,
      max: options.connectionsMax,
      idleTimeoutMillis: 60_000,
      Client,
      ...noticingCuts(this.#readTimeoutMs),
    };
    this.#pool = new Pool(config);
    // A connection that breaks while idle is replaced at its next use; there is nobody to tell.
    this.#pool.on("error", () => undefined);
    // One that breaks in the very packet that made it ready has nobody else who listens yet, and an
    // error event that nobody hears ends the process. What is sent through it fails, which is enough.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /**
   * Runs `work` in a READ COMMITTED transaction. BEGIN travels with the first statement. When `work`
   * ends without committing, everything is rolled back.
   */
  async transaction<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    const connection = await this.borrow();
    const transaction = connection.begin();
    if (this.#keptPlans !== null) transaction.send(planEachTime, []).catch(() => undefined);
    try {
      return await work(transaction);
    } finally {
      await transaction.rollBack();
      connection.giveBack();
    }
  }

  /** Waits for a connection. Whoever has it ends every transaction that it begins, and gives it back. */
  async borrow(): Promise<BorrowedConnection> {
    const client = await this.#connect();
    return new PipelinedConnection(client, this.#plansOf(client), {
      isWanted: () => this.#pool.waitingCount > 0,
      giveBack: (isBroken) => {
        this.#release(client, isBroken);
      },
    });
  }

  /**
   * Runs statements that only read, each by itself, on one connection, which is cut when `signal` says that
   * nobody waits for them any more.
   */
  async read<T>(
    work: (sender: StatementSender) => Promise<T>,
    signal: AbortSignal | null = null,
  ): Promise<T> {
    const client = await this.#connect();
    const reads = new PipelinedReads(client, this.#readTimeoutMs);
    this.#plansOf(client)?.discardOld(reads);
    // Without a listener, a connection that breaks in between would end the process.
    const ignore = () => undefined;
    client.on("error", ignore);
    const cut = () => client.connection.stream.destroy();
    if (signal?.aborted === true) cut();
    signal?.addEventListener("abort", cut);
    try {
      return await work(reads);
    } finally {
      signal?.removeEventListener("abort", cut);
      client.removeListener("error", ignore);
      // One that was cut for its caller is no trouble of the database's.
      const isCut = signal?.aborted === true;
      this.#release(client, reads.isBroken || isCut, isCut);
    }
  }

  /** Runs statements as `read` does, that all see the books as they are at one moment; for short work. */
  async snapshot<T>(
    work: (sender: StatementSender) => Promise<T>,
    signal: AbortSignal | null = null,
  ): Promise<T> {
    return this.read(async (sender) => {
      await sender.send(
        { name: "begin_snapshot", text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" },
        [],
      );
      try {
        return await work(sender);
      } finally {
        // A connection on which this fails is broken, and dropped.
        await sender.send({ name: "end_snapshot", text: "ROLLBACK" }, []);
      }
    }, signal);
  }

  get usage(): PoolUsage {
    return poolUsage(this.#pool, this.#failures);
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /** Ends without waiting for what is under way: its connections are cut, and it fails as when one breaks. */
  async cut(): Promise<void> {
    const ended = this.#pool.end();
    for (const client of this.#lent) client.connection.stream.destroy();
    await ended;
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      this.#lent.add(client);
      return client;
    } catch (error) {
      this.#failures += 1;
      throw asConnectionError(error);
    }
  }

  #plansOf(client: PoolClient): KeptPlans | null {
    if (this.#keptPlans === null) return null;
    const known = this.#keptPlans.get(client);
    if (known !== undefined) return known;
    const plans = new KeptPlans();
    this.#keptPlans.set(client, plans);
    return plans;
  }

  #release(client: PoolClient, isBroken: boolean, isCut = false): void {
    this.#lent.delete(client);
    if (isBroken && !isCut) this.#failures += 1;
    client.release(isBroken);
  }
}

/**
 * The plans that a connection keeps. One that was made while a table was small would walk all of it when it has
 * grown too; so none is kept for long, least of all where all is new.
 */
class KeptPlans {
  #discardedMs = performance.now();
  #keptMs = 1;

  /** Sends what discards them, once they are old. */
  discardOld(sender: StatementSender): void {
    const now = performance.now();
    if (now - this.#discardedMs < this.#keptMs) return;
    this.#discardedMs = now;
    this.#keptMs = Math.min(2 * this.#keptMs, plansKeptMsMax);
    // It fails only with the connection, and then so does what is sent behind it.
    sender.send(discardPlans, []).catch(() => undefined);
  }
}

/** Bytes that leave as one: a write for each message costs more than putting them together. */
class Outbox {
  readonly #stream: Duplex;
  #bytes: Buffer[] = [];

  constructor({ connection }: PoolClient) {
    this.#stream = connection.stream;
  }

  readonly add = (bytes: Buffer) => {
    this.#bytes.push(bytes);
  };

  send(): void {
    const bytes = Buffer.concat(this.#bytes);
    this.#bytes = [];
    // What goes to a connection that is gone has been told so already.
    if (this.#stream.writable) this.#stream.write(bytes);
  }
}

class PipelinedReads implements StatementSender {
  readonly #client: PoolClient;
  readonly #outbox: Outbox;
  readonly #timeoutMs: number;
  isBroken = false;

  constructor(client: PoolClient, timeoutMs: number) {
    this.#client = client;
    this.#outbox = new Outbox(client);
    this.#timeoutMs = timeoutMs;
  }

  async send<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    try {
      const sent = new SentStatement(statement, values);
      sendStatements(this.#client, [sent], this.#outbox.add, this.#timeoutMs);
      this.#outbox.send();
      return (await sent.answer).rows as Row[];
    } catch (error) {
      const failure = asConnectionError(error);
      if (isConnectionLost(failure)) this.isBroken = true;
      throw failure;
    }
  }
}

class PipelinedConnection implements BorrowedConnection {
  readonly #client: PoolClient;
  readonly #keptPlans: KeptPlans | null;
  readonly #pool: { isWanted(): boolean; giveBack(isBroken: boolean): void };
  #latest: PipelinedTransaction | null = null;
  /** Bytes of this step, which leave at its end. */
  readonly #outbox: Outbox;
  /** Statements of the message that is not closed yet. */
  #outgoing: SentStatement[] = [];
  #isStepOpen = false;
  isBroken = false;

  constructor(
    client: PoolClient,
    keptPlans: KeptPlans | null,
    pool: { isWanted(): boolean; giveBack(isBroken: boolean): void },
  ) {
    this.#client = client;
    this.#outbox = new Outbox(client);
    this.#keptPlans = keptPlans;
    this.#pool = pool;
    client.on("error", this.#onBroken);
  }

  get isWanted(): boolean {
    return this.#pool.isWanted();
  }

  begin(): WriteTransaction {
    assert(this.#latest?.hasEnded !== false, "the end of a transaction is sent before the next");
    this.#latest = new PipelinedTransaction(this);
    this.#keptPlans?.discardOld(this.#latest);
    return this.#latest;
  }

  giveBack(): void {
    this.#client.removeListener("error", this.#onBroken);
    this.#pool.giveBack(this.isBroken || this.#latest?.hasEnded === false);
  }

  /** Sends a statement in the transaction that was begun last, behind those before it. */
  async send(statement: Statement, values: readonly unknown[]): Promise<readonly object[]> {
    const sent = new SentStatement(statement, values);
    this.#sendAtEndOfStep();
    this.#outgoing.push(sent);
    return (await this.#heeding(sent.answer)).rows;
  }

  /**
   * Ends the transaction that was begun last; resolves with the command that the database carried out. By
   * itself: it has to be answered, whatever became of the statements before it.
   */
  async end(command: "COMMIT" | "ROLLBACK"): Promise<string> {
    const sent = new SentStatement({ name: "", text: command }, []);
    this.#sendAtEndOfStep();
    this.#closeMessage();
    this.#outgoing.push(sent);
    this.#closeMessage();
    return (await this.#heeding(sent.answer)).tag;
  }

  #sendAtEndOfStep(): void {
    if (this.#isStepOpen) return;
    this.#isStepOpen = true;
    queueMicrotask(() => {
      this.#isStepOpen = false;
      this.#closeMessage();
      this.#outbox.send();
    });
  }

  /** What was sent until now is answered together. */
  #closeMessage(): void {
    if (this.#outgoing.length === 0) return;
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    sendStatements(this.#client, outgoing, this.#outbox.add);
  }

  async #heeding<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      const failure = asConnectionError(error);
      if (isConnectionLost(failure)) this.isBroken = true;
      throw failure;
    }
  }

  readonly #onBroken = () => {
    this.isBroken = true;
  };
}

class PipelinedTransaction implements WriteTransaction {
  readonly #connection: PipelinedConnection;
  readonly #begun: Promise<unknown>;
  /** Whether its end is sent. */
  hasEnded = false;

  constructor(connection: PipelinedConnection) {
    this.#connection = connection;
    this.#begun = connection.send(beginTransaction, []);
    this.#begun.catch(() => undefined);
  }

  async send<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return (await this.#connection.send(statement, values)) as Row[];
  }

  async commit(pending: readonly Promise<unknown>[]): Promise<void> {
    this.hasEnded = true;
    const commit = this.#connection.end("COMMIT");
    const replies = await Promise.allSettled([this.#begun, ...pending, commit]);
    const failures = replies.flatMap((reply) =>
      reply.status === "rejected" ? [reply.reason as unknown] : [],
    );
    const answer = replies.at(-1);
    const isCommitted = answer?.status === "fulfilled" && (await commit) === "COMMIT";
    if (isCommitted && failures.length === 0) return;
    if (isCommitted) throw new RecordedInPart(failures[0]);
    // A statement that the database refused by name has undone the transaction for certain. A COMMIT that
    // fails for want of disk or by a panic has not: it may be in the log, and be replayed.
    const commitFailure: unknown = answer?.status === "rejected" ? failures.at(-1) : null;
    const refused = failures.find((failure) =>
      failure === commitFailure ? isRolledBack(failure) : isStatementRefused(failure),
    );
    if (refused instanceof Error) throw refused;
    if (failures.length > 0) throw new CommitAnswerLost(failures[0]);
    throw new Error("COMMIT was answered with something else");
  }

  async rollBack(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    // A connection that can't roll back is dropped, which rolls back as well.
    await this.#connection.end("ROLLBACK").catch(() => {
      this.#connection.isBroken = true;
    });
  }
}

// One connection as a pipeline: statements leave together at the end of a tick, large ones at once, and transactions
// follow each other without waiting.
import type { Duplex } from "node:stream";
import * as z from "zod";
import { assert } from "../../core/errors.ts";
import { Connection } from "./connection.ts";
import {
  AmbiguousCommit,
  asConnectionError,
  CommitWarning,
  ConnectionBroken,
  isCommitWarning,
  isConnectionLost,
  isNodeLost,
  isRolledBack,
  isSessionUseless,
  isStatementRefused,
  PartialCommit,
} from "./errors.ts";
import type { KeptPlans } from "./kept-plans.ts";
import { type Answer, sendStatements, SentStatement, type Wire } from "./pipelined-query.ts";
import type { Session } from "./session.ts";
import type { ShardNames } from "./shard-names.ts";
import { command, queryText, sql, type QueryText, type Statement } from "./statement.ts";

const beginTransaction = { name: "begin", text: "BEGIN ISOLATION LEVEL READ COMMITTED" };
const beginSnapshot = {
  name: "begin_snapshot",
  text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};

const discardPlans = { name: "discard_plans", text: "DISCARD PLANS" };
const planEachTime = {
  name: "plan_each_time",
  text: "SET LOCAL plan_cache_mode = force_custom_plan",
};

/** A statement whose parameters have so many leaves at once. */
const largeCharactersMin = 16 * 1024;

/** A connection that its borrower has alone until it is given back. */
export class PipelinedConnection extends Connection {
  readonly #session: Session;
  /** null where each statement is planned for its own values. */
  readonly #plans: KeptPlans | null;
  #latest: Transaction | null = null;
  /** Statements that have no Sync yet. */
  #unsynced: SentStatement[] = [];
  /** Bytes that leave together: a write for each message costs more than putting them together. */
  #bytes: Buffer[] = [];
  #isTickOpen = false;
  readonly #wire: Wire = {
    notices: 0,
    write: (bytes) => {
      this.#bytes.push(bytes);
    },
    failureOf: (error) => {
      const failure = asConnectionError(error);
      const isLost = isConnectionLost(failure) && !isNodeLost(failure);
      if (isLost || isSessionUseless(failure)) this.isBroken = true;
      return failure;
    },
  };
  isBroken = false;

  constructor(session: Session, plans: KeptPlans | null) {
    super();
    this.#session = session;
    this.#plans = plans;
    session.on("error", () => {
      this.isBroken = true;
    });
    session.on("notice", () => {
      this.#wire.notices += 1;
    });
  }

  override get isToCoordinator(): boolean {
    return this.#session.isToCoordinator;
  }

  /** Whether the pool can lend it again: it holds, and no transaction is open on it. */
  get isReusable(): boolean {
    return !this.isBroken && this.#latest?.hasEnded !== false;
  }

  /**
   * Begins a transaction; BEGIN travels with its first statement. It may begin before the one before is
   * answered, once that one's end was sent: the database takes one after the other. With `shards`, its statements
   * are about the ledgers of one shard, on the node that has it.
   */
  begin(shards: ShardNames | null = null): Transaction {
    return this.#begin(beginTransaction, shards);
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return this.#within(beginTransaction, (transaction) => committing(transaction, work));
  }

  /** Runs `work` in a transaction, which it commits itself; what it does not commit is rolled back. */
  withTransaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#within(beginTransaction, work);
  }

  /**
   * Runs reads that all see the database as it was at the first of them, whatever is written meanwhile; or as another
   * connection sees it that exported its snapshot by this id.
   */
  snapshot<Result>(
    work: (snapshot: Connection) => Promise<Result>,
    exportedId: string | null = null,
  ): Promise<Result> {
    return this.#within(beginSnapshot, async (transaction) => {
      if (exportedId !== null) await importSnapshot(transaction, exportedId);
      const result = await work(transaction);
      await transaction.commit([]).catch((error: unknown) => {
        // All that was asked is answered, and nothing was written.
        if (!isConnectionLost(error) && !isCommitWarning(error)) throw error;
      });
      return result;
    });
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    return this.sendStatement(statement);
  }

  /** Sends a statement behind all that were sent before; in the open transaction, where there is one. */
  async sendStatement(
    statement: Statement,
    shards: ShardNames | null = null,
  ): Promise<readonly object[]> {
    const isAlone = this.#latest?.hasEnded !== false;
    if (isAlone) this.#discardOldPlans();
    const query = queryText(statement);
    const answer = this.#queue(shards?.rename(query) ?? query, statement.values);
    // By itself it does not share the fate of its neighbours.
    if (isAlone) this.#sync();
    const { rows, isCommitWarned } = await answer;
    if (isAlone && isCommitWarned) throw new AmbiguousCommit(new CommitWarning());
    return rows;
  }

  /** Sends a fixed text that gives no rows; its failure is the connection's, and the next statement fails of it. */
  sendFixed(query: QueryText): Promise<unknown> {
    const sent = this.#queue(query, []);
    sent.catch(() => undefined);
    return sent;
  }

  /**
   * Ends the transaction that was begun last; the answer's tag is the command that the database carried out. With a
   * Sync of its own: it has to be answered, whatever became of the statements before it.
   */
  end(text: "COMMIT" | "ROLLBACK"): Promise<Answer> {
    this.#sync();
    const answer = this.#queue({ name: "", text }, []);
    this.#sync();
    return answer;
  }

  /** Breaks the connection: what runs on it fails, and the database ends it. */
  cut(): void {
    this.isBroken = true;
    this.#session.cut();
  }

  /** Ends the session; nothing runs on it any more, or what does is not to go on. */
  close(): void {
    void this.#session.end();
  }

  #begin(text: QueryText, shards: ShardNames | null = null): Transaction {
    assert(this.#latest?.hasEnded !== false, "the end of a transaction is sent before the next");
    this.#latest = new Transaction(this, text, shards);
    if (text === beginTransaction) {
      for (const query of this.#session.transactionSettings) void this.sendFixed(query);
    }
    this.#discardOldPlans();
    return this.#latest;
  }

  #discardOldPlans(): void {
    if (this.#plans?.expire() === true) void this.sendFixed(discardPlans);
  }

  async #within<Result>(
    text: QueryText,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const transaction = this.#begin(text);
    // Its statements are planned for their values: they are few, and may reach far.
    if (this.#plans !== null) void this.sendFixed(planEachTime);
    try {
      return await work(transaction);
    } finally {
      await transaction.rollBack();
    }
  }

  #queue(query: QueryText, values: readonly unknown[]): Promise<Answer> {
    const sent = new SentStatement(query, values, this.#plans !== null && query.name !== "");
    this.#unsynced.push(sent);
    if (sent.characters < largeCharactersMin) this.#sendAtEndOfTick();
    // The database works on it while the next one is put together.
    else this.#flush();
    return sent.answer;
  }

  #sendAtEndOfTick(): void {
    if (this.#isTickOpen) return;
    this.#isTickOpen = true;
    // queueMicrotask makes an asynchronous resource each time.
    void Promise.resolve().then(() => {
      this.#isTickOpen = false;
      this.#flush();
    });
  }

  #flush(): void {
    this.#sync();
    if (this.#bytes.length === 0) return;
    const bytes = Buffer.concat(this.#bytes);
    this.#bytes = [];
    const stream: Duplex = this.#session.connection.stream;
    // Whoever sent to a connection that is gone has its error already.
    if (stream.writable) stream.write(bytes);
  }

  /** Statements that were queued until now are answered together. */
  #sync(): void {
    if (this.#unsynced.length === 0) return;
    const statements = this.#unsynced;
    this.#unsynced = [];
    sendStatements(this.#session, statements, this.#wire);
  }
}

const snapshotRow = z.object({ id: z.string() });

/** The id by which other connections can see the database as this snapshot does, for as long as it is open. */
export async function exportSnapshot(snapshot: Connection): Promise<string> {
  const { id } = await snapshot.one(sql.type(snapshotRow)`SELECT pg_export_snapshot() AS id`);
  return id;
}

/** Has to come before any query of its transaction. */
function importSnapshot(transaction: Connection, id: string): Promise<void> {
  return transaction.run(command`SET TRANSACTION SNAPSHOT ${sql.literalValue(id)}`);
}

async function committing<Result>(
  transaction: Transaction,
  work: (transaction: Connection) => Promise<Result>,
): Promise<Result> {
  const result = await work(transaction);
  await transaction.commit([]);
  return result;
}

/** A transaction whose end its owner sends. READ COMMITTED. */
export class Transaction extends Connection {
  readonly #connection: PipelinedConnection;
  readonly #shards: ShardNames | null;
  readonly #begun: Promise<unknown>;
  /** Whether its end is sent. */
  hasEnded = false;

  constructor(connection: PipelinedConnection, begin: QueryText, shards: ShardNames | null) {
    super();
    this.#connection = connection;
    this.#shards = shards;
    this.#begun = connection.sendFixed(begin);
  }

  override get isToCoordinator(): boolean {
    return this.#connection.isToCoordinator;
  }

  protected override async send(statement: Statement): Promise<readonly object[]> {
    assert(!this.hasEnded, "a statement is sent before the end of its transaction");
    return this.#connection.sendStatement(statement, this.#shards);
  }

  override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
    return work(this);
  }

  /** Throws ConnectionBroken where the connection is known to be lost, so that nothing of this was committed. */
  requireConnection(): void {
    if (this.#connection.isBroken) throw new ConnectionBroken("it was lost before COMMIT was sent");
  }

  /**
   * Sends COMMIT right behind the statements whose replies are `pending` and resolves when the database has
   * flushed it, here and on the standbys that it waits for. Throws the first failure among them (nothing was
   * written then), or AmbiguousCommit when the connection broke before the answer, or the wait was cancelled.
   */
  async commit(pending: readonly Promise<unknown>[]): Promise<void> {
    this.hasEnded = true;
    const commit = this.#connection.end("COMMIT");
    const replies = await Promise.allSettled([this.#begun, ...pending, commit]);
    const failures = replies.flatMap((reply) =>
      reply.status === "rejected" ? [reply.reason as unknown] : [],
    );
    const answer = replies.at(-1);
    const ended = answer?.status === "fulfilled" ? await commit : null;
    const isCommitted = ended?.tag === "COMMIT";
    if (isCommitted && ended.isCommitWarned) throw new AmbiguousCommit(new CommitWarning());
    if (isCommitted && failures.length === 0) return;
    if (isCommitted) throw new PartialCommit(failures[0]);
    // Whatever failed, this is for certain.
    if (ended?.tag === "ROLLBACK" && failures[0] instanceof Error) throw failures[0];
    // A statement that the database refused by name has undone the transaction for certain. A COMMIT that
    // fails for want of disk or by a panic has not: it may be in the log, and be replayed.
    const commitFailure: unknown = answer?.status === "rejected" ? failures.at(-1) : null;
    const refused = failures.find((failure) =>
      failure === commitFailure ? isRolledBack(failure) : isStatementRefused(failure),
    );
    if (refused instanceof Error) throw refused;
    if (failures.length > 0) throw new AmbiguousCommit(failures[0]);
    throw new Error("COMMIT was answered with something else");
  }

  /** Undoes what was sent, unless its end was sent before. Never throws: a connection that can't is dropped. */
  async rollBack(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    // A connection that can't roll back is dropped, which rolls back as well.
    await this.#connection.end("ROLLBACK").catch(() => {
      this.#connection.isBroken = true;
    });
  }
}

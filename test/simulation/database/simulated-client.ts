// What the engine's connections take for a session: its statements go to a session of the simulated database.
import { EventEmitter } from "node:events";
import { DatabaseError } from "pg";
import type {
  Answer as SentAnswer,
  SentStatement,
} from "../../../src/store/database/pipelined-query.ts";
import type { Session } from "../../../src/store/database/session.ts";
import type { Task } from "../world/scheduler.ts";
import type { Cluster } from "./cluster.ts";
import type { DatabaseFault } from "./execution.ts";
import { Link } from "./link.ts";
import type { Answer } from "./message.ts";

/** Of the store's query: what pg calls when an answer comes. */
interface StatementsQuery {
  readonly statements: readonly SentStatement[];
  handleCommandComplete(message: { text: SentAnswer["tag"] }): void;
  handleError(error: Error, connection: { submittedNamedStatements: object }): void;
  handleReadyForQuery(): void;
}

const answerTimeoutMs = 10_000;
const noStatements = { submittedNamedStatements: {} };
const asItIs = (value: string) => value;

export class SimulatedClient extends EventEmitter {
  readonly connection;
  readonly transactionSettings = [];
  readonly link: Link;
  readonly #cluster: Cluster;
  readonly #unanswered = new Map<StatementsQuery, Task>();
  isBroken = false;

  constructor(cluster: Cluster, owner: number, delayMs: () => number) {
    super();
    this.#cluster = cluster;
    this.link = new Link(
      cluster,
      owner,
      (reason) => {
        this.#break(reason);
      },
      delayMs,
    );
    this.connection = { stream: { writable: true, write: () => true } };
  }

  /** As the store's connection knows it. */
  get asSession(): Session {
    return this as unknown as Session;
  }

  /** Called by the store's connection. */
  cut(): void {
    this.link.break("closed");
  }

  /** Called by the store's connection, as pg's own. */
  query(query: StatementsQuery): void {
    if (this.isBroken) {
      query.handleError(new Error("the connection is not usable any more"), noStatements);
      return;
    }
    const timer = this.#cluster.options.scheduler.after(answerTimeoutMs, () => {
      this.#unanswered.delete(query);
      query.handleError(new Error("Query read timeout"), noStatements);
    });
    this.#unanswered.set(query, timer);
    const statements = query.statements.map((sent) => ({
      text: sent.query.text,
      parameters: sent.parameters.map((each) => (each === null ? null : String(each))),
    }));
    this.link.toServer({
      statements,
      answer: (answer) => {
        this.#answer(query, answer);
      },
    });
  }

  #answer(query: StatementsQuery, { results, fault, hasWarning }: Answer): void {
    const timer = this.#unanswered.get(query);
    if (timer === undefined) return;
    timer.cancel();
    this.#unanswered.delete(query);
    // COMMIT warns before it is complete, and what is a transaction by itself afterwards.
    const isCommit = results.at(-1)?.tag === "COMMIT";
    const warn = () => hasWarning && this.emit("notice", { severity: "WARNING", code: "01000" });
    if (isCommit) warn();
    results.forEach(({ rows, tag }, index) => {
      const sent = query.statements[index];
      const [first] = rows;
      if (first !== undefined) {
        const names = Object.keys(first);
        sent?.describe(names.map((name) => ({ name, parse: asItIs })));
        for (const row of rows) sent?.addRow(Object.values(row) as string[]);
      }
      query.handleCommandComplete({ text: tag });
    });
    if (!isCommit) warn();
    if (fault === null) query.handleReadyForQuery();
    else query.handleError(errorOf(fault), noStatements);
  }

  /** Closes it, as a pool does with one that it does not keep. */
  close(): void {
    if (!this.isBroken) this.link.closeFromClient();
    this.#break("the connection was closed");
  }

  #break(reason: string): void {
    if (this.isBroken) return;
    this.isBroken = true;
    const unanswered = [...this.#unanswered];
    this.#unanswered.clear();
    for (const [query, timer] of unanswered) {
      timer.cancel();
      query.handleError(new Error(reason), noStatements);
    }
    if (this.listenerCount("error") > 0) this.emit("error", new Error(reason));
  }
}

function errorOf({ code, constraint, message }: DatabaseFault): DatabaseError {
  const error = new DatabaseError(message, message.length, "error");
  error.code = code;
  if (constraint !== undefined) error.constraint = constraint;
  return error;
}

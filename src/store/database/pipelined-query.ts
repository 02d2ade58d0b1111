// Statements on their way over one of pg's connections, and their answers: the extended query protocol
// (PostgreSQL's manual, section 54.2.3), several statements to one Sync.
import { type Client, DatabaseError, Query } from "pg";
import { serialize } from "pg-protocol";
import { assert } from "../../core/errors.ts";
import { parameterText } from "./parameter-text.ts";
import type { QueryText } from "./statement.ts";
import { UnreadableRow } from "./errors.ts";
import { pgTypes } from "./value-parsers.ts";

export interface Answer {
  readonly rows: readonly object[];
  /** The command tag: `COMMIT`, `INSERT 0 1`. */
  readonly tag: string;
  /**
   * Whether the database warned while it committed: COMMIT was carried out, but its wait for a standby was
   * cancelled (docs/decisions/0010). In a transaction, that of its COMMIT; else of the statement that is one by itself.
   */
  readonly isCommitWarned: boolean;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What pg's connection knows of prepared statements, their texts by name. */
interface PreparedNames {
  /** Those that the database has. */
  readonly parsedStatements: Record<string, string>;
  /** Those that are on their way to it. */
  readonly submittedNamedStatements: Record<string, string>;
}

/** The columns of prepared statements' rows, by their texts: they are the same on every connection. */
const columnsByText = new Map<string, readonly Column[]>();

/** A statement with its parameters, and the promise of its answer. */
export class SentStatement {
  readonly query: QueryText;
  readonly isPrepared: boolean;
  readonly parameters: (string | Buffer | null)[];
  /** Rejects with what `Wire.failureOf` makes of an error. */
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #columns: readonly Column[] | undefined;
  readonly #rows: object[] = [];
  #tag = "";
  /** Why a row could not be read; null where all could. */
  fault: unknown = null;

  /** `isPrepared`: kept by the connection under its name. Throws for a parameter that has no text. */
  constructor(query: QueryText, values: readonly unknown[], isPrepared: boolean) {
    this.query = query;
    this.isPrepared = isPrepared;
    this.parameters = values.map(parameterText);
    if (isPrepared) this.#columns = columnsByText.get(query.text);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The name that the database has it by; empty for one use. */
  get name(): string {
    return this.isPrepared ? this.query.name : "";
  }

  /** How long its parameters are together, in UTF-16 code units of what is sent. */
  get characters(): number {
    return this.parameters.reduce((sum, parameter) => sum + (parameter?.length ?? 0), 0);
  }

  /** Whether the columns of its rows are known, from an earlier use. */
  get isDescribed(): boolean {
    return this.#columns !== undefined;
  }

  describe(columns: readonly Column[]): void {
    this.#columns = columns;
  }

  addRow(fields: readonly (string | null)[]): void {
    if (this.fault !== null) return;
    try {
      this.#rows.push(rowOf(this.#columns ?? [], fields));
    } catch (error) {
      this.fault = new UnreadableRow(error);
    }
  }

  complete(tag: string): void {
    // One that gives no rows has no description.
    this.#columns ??= [];
    if (this.isPrepared) columnsByText.set(this.query.text, this.#columns);
    this.#tag = tag;
  }

  /** Answers one that is complete. */
  settle(isCommitWarned: boolean): void {
    this.#resolve({ rows: this.#rows, tag: this.#tag, isCommitWarned });
  }

  /** Nothing happens when it is answered. */
  fail(error: Error): void {
    this.#reject(error);
  }
}

/** What a connection has for its statements. */
export interface Wire {
  /**
   * The notices that came and that no statement has accounted for yet. They are warnings: connections ask for nothing
   * below them (client_min_messages). The severity itself is of no use: it comes in the language of the database's
   * messages.
   */
  notices: number;
  /** Takes bytes, which have to leave in the order in which they come. */
  readonly write: (bytes: Buffer) => void;
  /** What a statement fails with, for an error of the database's or of the connection's. */
  readonly failureOf: (error: unknown) => Error;
}

/**
 * Sends statements without waiting for what was sent before. They share one end (a Sync message): an answer in
 * a packet of its own costs either side more than most statements do. They are answered at this end, which is when
 * what is no transaction's is committed. Those behind one that fails are not carried out, and fail with its error.
 */
export function sendStatements(
  client: Client,
  statements: readonly SentStatement[],
  wire: Wire,
): void {
  client.query(new StatementsQuery(statements, wire));
}

/**
 * Several statements that pg takes for one query. A query of pg's own has a Sync of its own, asks for the
 * description of its rows each time, and makes every row from a copy of an empty one. What that costs is in
 * docs/decisions/0008.
 */
class StatementsQuery extends Query {
  /** Of the statement that is being answered: pg notes by them that it is prepared, or could not be. */
  declare name: string;
  declare text: string;
  /** pg puts its time limit in front. */
  callback: (error: Error | null) => void;
  readonly statements: readonly SentStatement[];
  readonly #wire: Wire;
  /** Statements that are complete. */
  #completed = 0;

  constructor(statements: readonly SentStatement[], wire: Wire) {
    super("");
    this.statements = statements;
    this.#wire = wire;
    this.callback = (error) => {
      this.#end(error);
    };
    this.#moveTo(0);
  }

  requiresPreparation(): boolean {
    return true;
  }

  /** Called by pg to send it. */
  prepare(connection: PreparedNames): void {
    const { write } = this.#wire;
    for (const sent of this.statements) writeStatement(connection, sent, write);
    write(serialize.sync());
  }

  handleRowDescription({
    fields,
  }: {
    fields: readonly { name: string; dataTypeID: number }[];
  }): void {
    this.statements[this.#completed]?.describe(
      fields.map(({ name, dataTypeID }) => ({ name, parse: pgTypes.getTypeParser(dataTypeID) })),
    );
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.statements[this.#completed]?.addRow(fields);
  }

  handleCommandComplete({ text }: { text: string }): void {
    // What a statement itself warned of says nothing about its commit, unless COMMIT is what it is.
    if (text !== "COMMIT") this.#wire.notices = 0;
    this.statements[this.#completed]?.complete(text);
    this.#moveTo(this.#completed + 1);
  }

  handleError(error: Error, connection: PreparedNames): void {
    // The database skips those after it, so that it has no statements by their names.
    for (const { name } of this.statements.slice(this.#completed)) {
      Reflect.deleteProperty(connection.submittedNamedStatements, name);
    }
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  #moveTo(index: number): void {
    this.#completed = index;
    this.name = this.statements[index]?.name ?? "";
    this.text = this.statements[index]?.query.text ?? "";
  }

  /** Answers all of them, now that their end has come, or an error instead. */
  #end(error: Error | null): void {
    const isWarned = this.#wire.notices > 0;
    this.#wire.notices = 0;
    // Else the connection broke, or what failed is their commit.
    const isOfStatement =
      error instanceof DatabaseError && this.#completed < this.statements.length;
    for (const [index, statement] of this.statements.entries()) {
      const isAnswered = index < this.#completed && (error === null || isOfStatement);
      if (isAnswered && statement.fault === null) {
        statement.settle(isWarned);
      } else {
        const fault = isAnswered ? statement.fault : error;
        statement.fail(
          this.#wire.failureOf(fault ?? new Error("a statement was left without an answer")),
        );
      }
    }
  }
}

function writeStatement(
  { parsedStatements, submittedNamedStatements }: PreparedNames,
  { query: { text }, name, parameters, isDescribed }: SentStatement,
  write: (bytes: Buffer) => void,
): void {
  if ((parsedStatements[name] ?? submittedNamedStatements[name]) === undefined) {
    write(serialize.parse({ name, text }));
    if (name !== "") submittedNamedStatements[name] = text;
  }
  write(serialize.bind({ statement: name, values: parameters }));
  if (!isDescribed) write(serialize.describe({ type: "P" }));
  write(serialize.execute());
}

function rowOf(columns: readonly Column[], fields: readonly (string | null)[]): object {
  // Another process may have migrated the database meanwhile.
  assert(fields.length === columns.length, "a row has the columns that its statement is known for");
  const row: Record<string, unknown> = {};
  let index = 0;
  for (const { name, parse } of columns) {
    const text = fields[index++] ?? null;
    row[name] = text === null ? null : parse(text);
  }
  return row;
}

// Statements on their way over a connection of pg's, and their answers.
import { type PoolClient, Query } from "pg";
import { serialize } from "pg-protocol";
import { assert } from "../core/errors.ts";
import { parameterText } from "./parameter-text.ts";
import { pgTypes } from "./value-parsers.ts";

/**
 * A prepared statement: its name is unique in the program, its text never changes. Without a name (an empty
 * one) it is prepared for one use.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

interface Answer {
  readonly rows: readonly object[];
  /** The command tag: `COMMIT`, `INSERT 0 1`. */
  readonly tag: string;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What pg's connection is asked for here (the extended query protocol; PostgreSQL's manual, section 54.2.3). */
interface Wire {
  /** Texts by name: those that the database has, and those that are on their way to it. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
}

/** The columns of statements' rows, by their texts: they are the same on every connection. */
const columnsByText = new Map<string, readonly Column[]>();

/** A statement with its parameters, and the promise of its answer. */
export class SentStatement {
  readonly statement: Statement;
  readonly parameters: (string | Buffer | null)[];
  /** Rejects with the database's error, or with one of the connection's. */
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #columns: readonly Column[] | undefined;
  readonly #rows: object[] = [];
  #fault: unknown = null;

  /** Throws for a parameter that has no text. */
  constructor(statement: Statement, values: readonly unknown[]) {
    this.statement = statement;
    this.parameters = values.map(parameterText);
    this.#columns = columnsByText.get(statement.text);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the columns of its rows are known, from an earlier use. */
  get isDescribed(): boolean {
    return this.#columns !== undefined;
  }

  describe(columns: readonly Column[]): void {
    this.#columns = columns;
  }

  addRow(fields: readonly (string | null)[]): void {
    if (this.#fault !== null) return;
    try {
      this.#rows.push(rowOf(this.#columns ?? [], fields));
    } catch (error) {
      this.#fault = error;
    }
  }

  complete(tag: string): void {
    // One that gives no rows has no description.
    this.#columns ??= [];
    if (this.statement.name !== "") columnsByText.set(this.statement.text, this.#columns);
    if (this.#fault === null) this.#resolve({ rows: this.#rows, tag });
    else this.#reject(this.#fault);
  }

  /** Nothing happens when it is complete. */
  fail(error: unknown): void {
    this.#reject(error);
  }
}

/**
 * Sends statements without waiting for what was sent before. They share one end (a Sync message): an answer in
 * a packet of its own costs either side more than most statements do. Those behind one that fails are not
 * carried out, and fail with its error. `write` takes the bytes; they have to leave in the order in which they come.
 * `timeoutMs`: how long the statements may go unanswered, where the connection's own limit is not meant.
 */
export function sendStatements(
  client: PoolClient,
  statements: readonly SentStatement[],
  write: (bytes: Buffer) => void,
  timeoutMs?: number,
): void {
  const query = new StatementsQuery(statements, write);
  if (timeoutMs !== undefined) query.query_timeout = timeoutMs;
  client.query(query);
}

/**
 * Several statements that pg takes for one query. A query of pg's own asks for the description of its rows each
 * time, builds the reader of its rows from it, and makes every row from a copy of an empty one: for a batch, which
 * is many short statements, that was half of what the process spent on them.
 */
class StatementsQuery extends Query {
  /** Of the statement that is being answered: pg notes by them that it is prepared, or could not be. */
  declare name: string | undefined;
  declare text: string;
  /** pg puts its time limit in front. */
  callback: (error: Error | null) => void;
  query_timeout: number | undefined;
  readonly #statements: readonly SentStatement[];
  readonly #write: (bytes: Buffer) => void;
  #answered = 0;

  constructor(statements: readonly SentStatement[], write: (bytes: Buffer) => void) {
    super("");
    this.#statements = statements;
    this.#write = write;
    this.callback = (error) => {
      this.#failRest(error);
    };
    this.#moveTo(0);
  }

  requiresPreparation(): boolean {
    return true;
  }

  /** Called by pg to send it. */
  prepare(connection: Wire): void {
    const taken = takenName(connection, this.#statements);
    if (taken === undefined) {
      for (const sent of this.#statements) writeStatement(connection, sent, this.#write);
    } else {
      this.callback(new Error(`${taken} is another prepared statement's name`));
    }
    this.#write(serialize.sync());
  }

  handleRowDescription({
    fields,
  }: {
    fields: readonly { name: string; dataTypeID: number }[];
  }): void {
    this.#statements[this.#answered]?.describe(
      fields.map(({ name, dataTypeID }) => ({ name, parse: pgTypes.getTypeParser(dataTypeID) })),
    );
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#statements[this.#answered]?.addRow(fields);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#statements[this.#answered]?.complete(text);
    this.#moveTo(this.#answered + 1);
  }

  handleError(error: Error, connection: Wire): void {
    // The database passed over those behind: names that were to be theirs are not known there.
    for (const { statement } of this.#statements.slice(this.#answered)) {
      Reflect.deleteProperty(connection.submittedNamedStatements, statement.name);
    }
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  #moveTo(index: number): void {
    this.#answered = index;
    this.name = this.#statements[index]?.statement.name;
    this.text = this.#statements[index]?.statement.text ?? "";
  }

  #failRest(error: Error | null): void {
    for (const statement of this.#statements.slice(this.#answered)) {
      statement.fail(error ?? new Error("a statement was left without an answer"));
    }
  }
}

function textOf(connection: Wire, name: string): string | undefined {
  return connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
}

/** A name that has another text than the one that comes with it, on the connection or further ahead here. */
function takenName(connection: Wire, sent: readonly SentStatement[]): string | undefined {
  const texts = new Map<string, string>();
  for (const { name, text } of sent.map(({ statement }) => statement)) {
    if (name === "") continue;
    if ((textOf(connection, name) ?? texts.get(name) ?? text) !== text) return name;
    texts.set(name, text);
  }
  return undefined;
}

function writeStatement(
  connection: Wire,
  { statement, parameters, isDescribed }: SentStatement,
  write: (bytes: Buffer) => void,
): void {
  const { name, text } = statement;
  if (name === "" || textOf(connection, name) === undefined) {
    write(serialize.parse(statement));
    if (name !== "") connection.submittedNamedStatements[name] = text;
  }
  write(serialize.bind({ statement: name, values: parameters }));
  if (!isDescribed) write(serialize.describe({ type: "P" }));
  write(serialize.execute());
}

function rowOf(columns: readonly Column[], fields: readonly (string | null)[]): object {
  // Another process may have migrated the database meanwhile.
  assert(fields.length === columns.length, "a row has the columns that its statement is known for");
  const row: Record<string, unknown> = {};
  for (const [index, { name, parse }] of columns.entries()) {
    const text = fields[index];
    row[name] = text === null || text === undefined ? null : parse(text);
  }
  return row;
}

// A statement on its way over a connection of pg's, and its answer.
import { type PoolClient, Query } from "pg";
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

export interface Answer {
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
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: Statement): void;
  bind(portal: { statement: string; values: readonly unknown[] }): void;
  describe(portal: { type: "P" }): void;
  execute(): void;
  sync(): void;
}

/** The columns of statements' rows, by their texts: they are the same on every connection. */
const columnsByText = new Map<string, readonly Column[]>();

/**
 * Sends a statement without waiting for those before it. Rejects with the database's error, or with one of
 * the connection's. `timeoutMs`: how long it may go unanswered, where the connection's own limit is not meant.
 */
export function sendStatement(
  client: PoolClient,
  statement: Statement | string,
  values: readonly unknown[] = [],
  timeoutMs?: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = new SentStatement(statement, values, (error, answer) => {
      if (answer === undefined)
        reject(error ?? new Error("a statement was left without an answer"));
      else resolve(answer);
    });
    if (timeoutMs !== undefined) sent.query_timeout = timeoutMs;
    client.query(sent);
  });
}

/**
 * pg's own Query asks for the description of its rows each time, builds the reader of its rows from it, and
 * makes every row from a copy of an empty one. A batch is many short statements: that was half of what the
 * process spent on them.
 */
class SentStatement extends Query {
  declare name: string | undefined;
  /** Whether the connection has a statement of this name; one without a name is never known. */
  declare hasBeenParsed: (connection: Wire) => boolean;
  /** pg puts its time limit in front. */
  callback: (error: Error | null, answer?: Answer) => void;
  query_timeout: number | undefined;
  readonly #statement: Statement | null;
  readonly #parameters: readonly (string | Buffer | null)[];
  #columns: readonly Column[] | undefined;
  readonly #rows: object[] = [];
  #tag = "";
  #fault: unknown = null;

  constructor(
    statement: Statement | string,
    values: readonly unknown[],
    callback: (error: Error | null, answer?: Answer) => void,
  ) {
    const isPlain = typeof statement === "string";
    super(isPlain ? statement : statement.text);
    this.callback = callback;
    this.#statement = isPlain ? null : statement;
    this.#parameters = values.map(parameterText);
    if (isPlain) return;
    this.name = statement.name;
    this.#columns = columnsByText.get(statement.text);
  }

  requiresPreparation(): boolean {
    return this.#statement !== null;
  }

  /** Called by pg for what has to be prepared. */
  prepare(connection: Wire): void {
    const statement = this.#statement;
    assert(statement !== null, "plain text is not prepared");
    const { name, text } = statement;
    if (!this.hasBeenParsed(connection)) {
      connection.parse({ name, text });
      if (name !== "") connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#parameters });
    if (this.#columns === undefined) connection.describe({ type: "P" });
    connection.execute();
    connection.sync();
  }

  handleRowDescription({
    fields,
  }: {
    fields: readonly { name: string; dataTypeID: number }[];
  }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pgTypes.getTypeParser(dataTypeID),
    }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#fault !== null) return;
    try {
      this.#rows.push(rowOf(this.#columns ?? [], fields));
    } catch (error) {
      this.#fault = error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#tag = text;
    if (this.#statement === null || this.#statement.name === "") return;
    // One that gives no rows has no description.
    columnsByText.set(this.#statement.text, (this.#columns ??= []));
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    if (this.#fault === null) this.callback(null, { rows: this.#rows, tag: this.#tag });
    else this.callback(this.#fault as Error);
  }
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

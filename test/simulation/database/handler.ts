// How a statement is carried out by the simulated database, and how one is told by its text.
import { Connection } from "../../../src/store/database/connection.ts";
import { queryText, type Statement } from "../../../src/store/database/statement.ts";
import type { Execution, Waiting } from "./execution.ts";
import { text, unnest } from "./parameters.ts";

/** Rows as the store's schemas take them. */
export type Rows = readonly object[];

/** Parameters as they are sent: texts, arrays as array literals. */
export type Parameters = readonly (string | null)[];

export type Handler = (execution: Execution, parameters: Parameters) => Rows | Waiting<Rows>;

/** How a row is inserted whose values are in the order of `columns`. */
interface RowInsert {
  readonly columns: readonly string[];
  readonly insert: (db: Execution, ledgerId: string, values: Parameters) => Waiting<unknown>;
}

/** An INSERT that `newRows` of the store made: its table, its columns but for the ledger's id, its rows, and what follows them. */
const newRowsPattern =
  /^\s*(INSERT INTO \w+(?: AS \w+)?) \(ledger_id, ([^)]+)\)\s+(?:VALUES \([^)]+\)(?:, \([^)]+\))*|SELECT [^]* unnest\((.*)\) AS new)([^]*)$/;

interface NewRows {
  /** The same for every number of rows. */
  readonly target: string;
  readonly columns: readonly string[];
  /** How many of the columns come as arrays: all others are one value for all rows. Null where rows are listed. */
  readonly arrayCount: number | null;
}

function readNewRows(statement: string): NewRows | null {
  const match = newRowsPattern.exec(statement);
  if (match === null) return null;
  const [, table = "", names = "", arrays, end = ""] = match;
  return {
    target: `${table} ${end}`,
    columns: names.split(", "),
    arrayCount: arrays === undefined ? null : arrays.split(", ").length,
  };
}

function rowsOf({ columns, arrayCount }: NewRows, values: Parameters): readonly Parameters[] {
  if (arrayCount !== null) {
    const shared = values.slice(arrayCount);
    return unnest(...values.slice(0, arrayCount)).map((row) => [...row, ...shared]);
  }
  const width = columns.length;
  return Array.from({ length: values.length / width }, (_, row) =>
    values.slice(row * width, (row + 1) * width),
  );
}

class RecordingConnection extends Connection {
  readonly texts: string[] = [];

  protected override send(statement: Statement): Promise<readonly object[]> {
    this.texts.push(queryText(statement).text);
    return Promise.resolve([]);
  }

  override transaction<Result>(
    work: (transaction: Connection) => Promise<Result>,
  ): Promise<Result> {
    return work(this);
  }
}

/** The texts of the statements that a function of the store sends at once. */
function record(send: (connection: Connection) => unknown): readonly string[] {
  const recording = new RecordingConnection();
  const sent = send(recording);
  // They miss the rows that nobody gives them.
  for (const each of Array.isArray(sent) ? (sent as unknown[]) : [sent]) {
    Promise.resolve(each).catch(() => undefined);
  }
  return recording.texts;
}

/**
 * The handlers of the statements that functions of the store send, by text. Each function is called once, to learn the
 * texts of its statements, which come in the order of its handlers: whoever changes a statement need not change anything
 * here but what it does.
 */
export class Handlers {
  readonly #byText = new Map<string, Handler>();
  /** By target. */
  readonly #inserts = new Map<string, RowInsert>();

  /** The handler of a statement with this text. */
  find(statement: string): Handler | undefined {
    const known = this.#byText.get(statement);
    if (known !== undefined) return known;
    const newRows = readNewRows(statement);
    const rowInsert = newRows === null ? undefined : this.#inserts.get(newRows.target);
    if (newRows === null || rowInsert === undefined) return undefined;
    const { columns, insert } = rowInsert;
    const places = columns.map((column) => newRows.columns.indexOf(column));
    const handler: Handler = function* (db, [ledgerId, ...values]) {
      for (const row of rowsOf(newRows, values)) {
        // A column that is left out is null.
        const inOrder = places.map((place) => row[place] ?? null);
        yield* insert(db, text(ledgerId), inOrder);
      }
      return [];
    };
    this.#byText.set(statement, handler);
    return handler;
  }

  /** Of an INSERT that takes rows (`newRows` of the store), however many: `insert` makes one of them. */
  addInsert<Row>(
    send: (connection: Connection, rows: readonly Row[]) => unknown,
    row: Row,
    insert: RowInsert["insert"],
  ): void {
    const [statement = ""] = record((connection) => send(connection, [row]));
    const newRows = readNewRows(statement);
    if (newRows === null) throw new Error(`this is no INSERT of new rows: ${statement}`);
    // One row is sent with all columns.
    this.#inserts.set(newRows.target, { columns: newRows.columns, insert });
  }

  add(send: (connection: Connection) => unknown, ...handlers: readonly Handler[]): void {
    const texts = record(send);
    if (texts.length !== handlers.length) {
      throw new Error(
        `a function of the store sends ${texts.length} statements at once, and the simulated database has ${handlers.length} for it: ${texts.join("\n")}`,
      );
    }
    texts.forEach((text, index) => {
      const handler = handlers[index];
      if (handler !== undefined) this.#byText.set(text, handler);
    });
  }
}

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

/** So many rows are listed at most. */
const listedMax = 4;

function rowsOf(values: Parameters, count: number): readonly Parameters[] {
  if (count > listedMax) return unnest(...values);
  const width = values.length / count;
  return Array.from({ length: count }, (_, row) => values.slice(row * width, (row + 1) * width));
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

/**
 * The handlers of the statements that functions of the store send, by text. Each function is called once, to learn the
 * texts of its statements, which come in the order of its handlers: whoever changes a statement need not change anything
 * here but what it does.
 */
export class Handlers {
  readonly byText = new Map<string, Handler>();

  /** Of an INSERT that takes rows (`newRows` of the store), listed or as arrays: `insert` makes one of them. */
  addInsert<Row>(
    send: (connection: Connection, rows: readonly Row[]) => unknown,
    row: Row,
    insert: (db: Execution, ledgerId: string, values: Parameters) => Waiting<unknown>,
  ): void {
    for (let count = 1; count <= listedMax + 1; count += 1) {
      const rows = Array.from({ length: count }, () => row);
      this.add(
        (connection) => send(connection, rows),
        function* (db, [ledgerId, ...values]) {
          for (const each of rowsOf(values, count)) yield* insert(db, text(ledgerId), each);
          return [];
        },
      );
    }
  }

  add(send: (connection: Connection) => unknown, ...handlers: readonly Handler[]): void {
    const recording = new RecordingConnection();
    const sent = send(recording);
    // They miss the rows that nobody gives them.
    for (const each of Array.isArray(sent) ? (sent as unknown[]) : [sent]) {
      Promise.resolve(each).catch(() => undefined);
    }
    if (recording.texts.length !== handlers.length) {
      const sentTexts = recording.texts.join("\n");
      throw new Error(
        `a function of the store sends ${recording.texts.length} statements at once, and the simulated database has ${handlers.length} for it: ${sentTexts}`,
      );
    }
    recording.texts.forEach((text, index) => {
      const handler = handlers[index];
      if (handler !== undefined) this.byText.set(text, handler);
    });
  }
}

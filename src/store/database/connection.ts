// What statements run on. How many rows there must be is in each method's name; every row is checked
// against the schema of its statement.
import type { z } from "zod";
import { UnreadableRow } from "./errors.ts";
import type { Statement } from "./statement.ts";

/** A pool, one of its connections, or a transaction on one. */
export abstract class Connection {
  /** Whether it is to the coordinator of a database that Citus spreads, which sends statements on to nodes. */
  get isToCoordinator(): boolean {
    return false;
  }

  /** Sends a statement at once, without waiting for those before it; resolves with its rows, unchecked. */
  protected abstract send(statement: Statement): Promise<readonly object[]>;

  /** On a pool, a transaction of its own; within one, a part of it. `work` that throws undoes all of it. */
  abstract transaction<Result>(work: (transaction: Connection) => Promise<Result>): Promise<Result>;

  /** Any number of rows. Rejects with UnreadableRow where one does not meet its schema. */
  async any<Row extends z.ZodType>(statement: Statement<Row>): Promise<z.output<Row>[]> {
    const rows = await this.send(statement);
    try {
      return rows.map((row) => statement.parser.parse(row));
    } catch (error) {
      throw new UnreadableRow(error);
    }
  }

  /** One row, or null for none. */
  async maybeOne<Row extends z.ZodType>(statement: Statement<Row>): Promise<z.output<Row> | null> {
    const rows = await this.any(statement);
    if (rows.length > 1) throw new Error("a statement for one row gave several");
    return rows[0] ?? null;
  }

  /** Exactly one row. */
  async one<Row extends z.ZodType>(statement: Statement<Row>): Promise<z.output<Row>> {
    const row = await this.maybeOne(statement);
    if (row === null) throw new Error("a statement for one row gave none");
    return row;
  }

  /** A statement that gives no rows. */
  async run(statement: Statement<z.ZodNever>): Promise<void> {
    await this.any(statement);
  }
}

// The one kind of statement: slonik's `sql` makes it, with its values apart from its text and the schema of
// its rows.
import { createHash } from "node:crypto";
import {
  createSqlTag,
  type ArraySqlToken,
  type PrimitiveValueExpression,
  type QuerySqlToken,
} from "@slonik/sql-tag";
import * as z from "zod";

/** slonik's tag: `sql.type(rowSchema)` makes a statement, `sql.fragment` a part of one. */
export const sql = createSqlTag();

/** A text with placeholders, its values, and the schema that each of its rows has to meet. */
export type Statement<Row extends z.ZodType = z.ZodType> = QuerySqlToken<Row>;

/** A statement that is run for its effect: it gives no rows. */
export const command = sql.type(z.never());

/** What the database is sent of a statement besides its values. */
export interface QueryText {
  /**
   * The name under which a connection prepares it. Made from the text, so that no two programs behind one pooler
   * mean different statements by one name.
   */
  readonly name: string;
  /** The text with PostgreSQL's own placeholders ($1). */
  readonly text: string;
}

/** By slonik's text. A program has a bounded number of them: values are never part of a text. */
const queryTexts = new Map<string, QueryText>();

/** The text of a statement as PostgreSQL reads it, with the name that goes with it. */
export function queryText(statement: Statement): QueryText {
  const made = queryTexts.get(statement.sql);
  if (made !== undefined) return made;
  // slonik itself does the same before it hands a statement to its driver.
  const text = statement.sql.replaceAll("$slonik_", "$");
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const query = { name, text };
  queryTexts.set(statement.sql, query);
  return query;
}

/**
 * One member of many rows as an array parameter, for `unnest`. `type` is PostgreSQL's name of the members' type:
 * text, uuid, numeric, int8, timestamptz …
 */
export function column<Member extends string>(
  rows: readonly Readonly<Record<Member, PrimitiveValueExpression>>[],
  member: Member,
  type: string,
): ArraySqlToken {
  return sql.array(
    rows.map((row) => row[member]),
    type,
  );
}

// Rows by columns: one row of JSON arrays, an array for each column. For what is read by the million: a thousand rows are
// one message of the database, and their schema is checked once.
import type { FragmentSqlToken, ListSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { parseTimestamptz } from "./database/value-parsers.ts";

/** The array of a column, whose values are checked one by one. */
export function columnOf<Value>(isValue: (value: unknown) => value is Value) {
  return z.custom<Value[]>((values) => Array.isArray(values) && values.every(isValue));
}

const isText = (value: unknown) => typeof value === "string";

/** Amounts, which are never null, are one text: V8 would look each of so many short texts up among all that it knows. */
const numerals = z.string().transform((text) => (text === "" ? [] : text.split(" ")));

/** Each is for what JSON has the values as; numeric, timestamptz and bytea are cast to text. */
export const columns = {
  text: columnOf(isText),
  textOrNull: columnOf((value) => value === null || isText(value)),
  boolean: columnOf((value) => typeof value === "boolean"),
  booleanOrNull: columnOf((value) => value === null || typeof value === "boolean"),
  /** What a double can't hold is refused. */
  integer: columnOf((value): value is number => Number.isSafeInteger(value)),
  integerOrNull: columnOf(
    (value): value is number | null => value === null || Number.isSafeInteger(value),
  ),
  numberOrNull: columnOf((value) => value === null || typeof value === "number"),
  numerals,
  amount: numerals.transform((texts) => texts.map(BigInt)),
  amountOrNull: columnOf((value) => value === null || isText(value)).transform((texts) =>
    texts.map((text) => (text === null ? null : BigInt(text))),
  ),
  time: columnOf(isText).transform((texts) => texts.map(parseTimestamptz)),
  timeOrNull: columnOf((value) => value === null || isText(value)).transform((texts) =>
    texts.map((text) => (text === null ? null : parseTimestamptz(text))),
  ),
};

/** The columns of such a schema. */
export type ColumnsOf<Schema extends z.ZodObject> = Readonly<z.output<Schema>>;

/** Of columns that are of one length. Throws where this one is shorter: nulls are left out of amounts. */
export function valueAt<Value>(column: readonly Value[], at: number): Value {
  const value = column[at];
  if (value === undefined) throw new Error("a value is missing");
  return value;
}

/** What is selected of rows for these columns: an array of each. Shorter texts are collected sooner than one of all. */
export function arraysOf(schema: z.ZodObject): ListSqlToken {
  const arrays = Object.entries(schema.shape).map(([name, type]) => {
    const column = sql.identifier([name]);
    return type === columns.numerals || type === columns.amount
      ? sql.fragment`coalesce(string_agg(${column}, ' '), '') AS ${column}`
      : sql.fragment`coalesce(json_agg(${column}), '[]') AS ${column}`;
  });
  return sql.join(arrays, sql.fragment`, `);
}

/**
 * The rows of an ordered query, whose columns are those of the schema. `rowAt` makes a row, member by member: objects that
 * are put together column by column take three times as long, and to read too. Rejects with UnreadableRow, also where
 * `rowAt` throws.
 */
export function listByColumns<Schema extends z.ZodObject, Row>(
  connection: Connection,
  schema: Schema,
  rows: FragmentSqlToken,
  rowAt: (columns: ColumnsOf<Schema>, at: number) => Row,
): Promise<Row[]> {
  const rowsOf = schema.transform((values: ColumnsOf<Schema>) => {
    const length = Math.max(
      ...(Object.values(values) as unknown[][]).map((column) => column.length),
    );
    return Array.from({ length }, (_, at) => rowAt(values, at));
  });
  return connection.one(sql.type(rowsOf)`
    SELECT ${arraysOf(schema)} FROM (${rows}) AS rows`);
}

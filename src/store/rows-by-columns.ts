// Rows by columns: one row of JSON arrays, an array for each column. For what is read by the million: a thousand rows are
// one message of the database, and their schema is checked once.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";
import { parseTimestamptz } from "./database/value-parsers.ts";

/** The array of a column, whose values are checked one by one. */
export function columnOf<Value>(isValue: (value: unknown) => value is Value) {
  return z.custom<Value[]>((values) => Array.isArray(values) && values.every(isValue));
}

const isText = (value: unknown) => typeof value === "string";

/** Each is for what JSON has the values as; numeric, timestamptz and bytea are cast to text. */
export const columns = {
  text: columnOf(isText),
  textOrNull: columnOf((value) => value === null || isText(value)),
  boolean: columnOf((value) => typeof value === "boolean"),
  /** What a double can't hold is refused. */
  integer: columnOf((value): value is number => Number.isSafeInteger(value)),
  integerOrNull: columnOf(
    (value): value is number | null => value === null || Number.isSafeInteger(value),
  ),
  numberOrNull: columnOf((value) => value === null || typeof value === "number"),
  amount: columnOf(isText).transform((texts) => texts.map(BigInt)),
  amountOrNull: columnOf((value) => value === null || isText(value)).transform((texts) =>
    texts.map((text) => (text === null ? null : BigInt(text))),
  ),
  time: columnOf(isText).transform((texts) => texts.map(parseTimestamptz)),
  timeOrNull: columnOf((value) => value === null || isText(value)).transform((texts) =>
    texts.map((text) => (text === null ? null : parseTimestamptz(text))),
  ),
};

/** A row of such a schema. */
export type RowOf<Schema extends z.ZodObject> = {
  readonly [Name in keyof z.output<Schema>]: z.output<Schema>[Name] extends readonly (infer Value)[]
    ? Value
    : never;
};

/** The rows of an ordered query, whose columns are those of the schema. */
export async function listByColumns<Schema extends z.ZodObject>(
  connection: Connection,
  schema: Schema,
  rows: FragmentSqlToken,
): Promise<RowOf<Schema>[]> {
  const names = Object.keys(schema.shape);
  const arrays = names.map((name) => {
    const column = sql.identifier([name]);
    return sql.fragment`coalesce(json_agg(${column}), '[]') AS ${column}`;
  });
  const values = (await connection.one(sql.type(schema)`
    SELECT ${sql.join(arrays, sql.fragment`, `)} FROM (${rows}) AS rows`)) as Record<
    string,
    unknown[]
  >;
  const rowCount = values[names[0] ?? ""]?.length ?? 0;
  return Array.from({ length: rowCount }, (_, index) => {
    const row: Record<string, unknown> = {};
    for (const name of names) row[name] = values[name]?.[index];
    return row as RowOf<Schema>;
  });
}

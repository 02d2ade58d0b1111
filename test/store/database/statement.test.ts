import type { ValueExpression } from "@slonik/sql-tag";
import { expect, test } from "vitest";
import * as z from "zod";
import { parameterText } from "../../../src/store/database/parameter-text.ts";
import { column, newRows, queryText, sql } from "../../../src/store/database/statement.ts";

const row = z.object({});
const columns = sql.fragment`id, name`;

/** One template for all of these tests: what was made of it for one call must not be taken for another. */
function make(first: ValueExpression, second: ValueExpression) {
  return sql.type(row)`SELECT ${first} FROM things WHERE x = ${second}`;
}

function sent(statement: ReturnType<typeof make>) {
  return [queryText(statement).text, statement.values];
}

test("has the values of each call", () => {
  for (const id of [1, "two", null, 3n, true]) {
    expect(sent(make(columns, id))).toEqual(["SELECT id, name FROM things WHERE x = $1", [id]]);
  }
});

test("has the text of the fragments of each call, and their values", () => {
  const other = sql.fragment`nothing`;
  for (const [fragment, text] of [
    [columns, "id, name"],
    [other, "nothing"],
    [columns, "id, name"],
    [sql.fragment`nothing`, "nothing"],
    [sql.identifier(["a", "b"]), '"a"."b"'],
    [sql.identifier(["c"]), '"c"'],
  ] as const) {
    expect(sent(make(fragment, 1))).toEqual([`SELECT ${text} FROM things WHERE x = $1`, [1]]);
  }
  for (const value of ["x", "y"]) {
    const filtered = sql.fragment`f(${value})`;
    for (const id of [1, 2]) {
      expect(sent(make(filtered, id))).toEqual([
        "SELECT f($1) FROM things WHERE x = $2",
        [value, id],
      ]);
    }
  }
});

test("has the type of each call's arrays", () => {
  for (const [values, type] of [
    [["a"], "text"],
    [["b", null], "text"],
    [[1], "int8"],
    [[], "int8"],
  ] as const) {
    expect(sent(make(sql.array(values, type), 1))).toEqual([
      `SELECT $1::"${type}"[] FROM things WHERE x = $2`,
      [values, 1],
    ]);
  }
  const ids = column([{ id: 1 }, { id: 2 }], ({ id }) => id, "int4");
  expect(sent(make(7, ids))).toEqual(['SELECT $1 FROM things WHERE x = $2::"int4"[]', [7, [1, 2]]]);
});

test("refuses what is no value, the second time too", () => {
  make(columns, 1);
  for (const value of [undefined, {}, Buffer.from("x")]) {
    expect(() => make(columns, value as never)).toThrow();
  }
});

test("refuses what is no value in an array, the second time too", () => {
  make(columns, sql.array(["a"], "text"));
  const [, values] = sent(make(columns, sql.array([undefined as never], "text")));
  expect(() => (values as unknown[]).map(parameterText)).toThrow(TypeError);
});

test("has the schema of each call's rows", () => {
  const other = z.object({ id: z.number() });
  const [first, second] = [row, other].map((schema) => sql.type(schema)`SELECT 1`);
  expect([first?.parser, second?.parser]).toEqual([row, other]);
});

test("of many new rows, leaves out columns without a value and sends a time that all share once", () => {
  const at = "2026-03-01T00:00:00.000Z";
  const text = (count: number, later: string) => {
    const rows = Array.from({ length: count }, (_, id) => ({ id, at: id === 0 ? later : at }));
    const { sql: made, values } = newRows("l", {
      at: column(rows, (each) => each.at, "timestamptz"),
      note: column(rows, () => null, "text"),
      id: column(rows, ({ id }) => id, "int8"),
    });
    return [made.replaceAll(/\s+/g, " ").trim(), values];
  };
  const from =
    "FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = $slonik_1) AS ledger CROSS JOIN unnest";
  const ids = [0, 1, 2, 3, 4];
  expect(text(5, at)).toEqual([
    `(ledger_id, id, at) SELECT ledger.ledger_id, new.*, $slonik_3::timestamptz ${from}($slonik_2::int8[]) AS new`,
    ["l", ids, at],
  ]);
  const later = "2026-03-02T00:00:00.000Z";
  expect(text(5, later)).toEqual([
    `(ledger_id, at, id) SELECT ledger.ledger_id, new.* ${from}($slonik_2::timestamptz[], $slonik_3::int8[]) AS new`,
    ["l", [later, at, at, at, at], ids],
  ]);
  expect(text(1, at)).toEqual([
    "(ledger_id, at, note, id) VALUES ($slonik_1, $slonik_2, $slonik_3, $slonik_4)",
    ["l", at, null, 0],
  ]);
});

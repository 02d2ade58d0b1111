// Statements as the write path sends them: parameters there, rows back, and errors in between.
import * as z from "zod";
import type { PipelinedConnection } from "../../../src/store/database/pipeline.ts";
import { sql, type Statement } from "../../../src/store/database/statement.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "../../../src/store/database/connection.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let connections: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  connections = new Pool({
    databaseUrl: database.url,
    connectionsMax: 2,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 5_000,
    keepsPlans: true,
  });
});

afterAll(async () => {
  await connections.end();
  await database.drop();
});

const read = <Result>(work: (connection: PipelinedConnection) => Promise<Result>) =>
  connections.withConnection(work);

/** A statement of a test's text, whose values are `$1`, `$2` …; its rows are taken as they come. */
function statementOf(text: string, values: readonly unknown[] = []): Statement {
  return { ...sql.unsafe``, sql: text, values } as unknown as Statement;
}

/** Sends a statement twice on one connection, then on two at once. */
async function rowsOf(text: string, values: readonly unknown[] = []) {
  const send = (connection: Connection) => connection.any(statementOf(text, values));
  const rows = await read(async (connection) => {
    const first = await send(connection);
    expect(await send(connection)).toEqual(first);
    return first;
  });
  for (const again of await Promise.all([read(send), read(send)])) expect(again).toEqual(rows);
  return rows;
}

describe("rows", () => {
  test("have values of ours, described or not", async () => {
    expect(
      await rowsOf(`SELECT true AS yes, 12345678901234567890::numeric AS big, 7::bigint AS whole, 'ä"\\'::text AS words,
                '\\x00ff'::bytea AS bytes, NULL::numeric AS nothing, '{"a": 1}'::jsonb AS document,
                '2026-01-31 23:59:59.9+00'::timestamptz AS moment`),
    ).toEqual([
      {
        yes: true,
        big: 12345678901234567890n,
        whole: 7,
        words: 'ä"\\',
        bytes: Buffer.from([0, 255]),
        nothing: null,
        document: { a: 1 },
        moment: "2026-01-31T23:59:59.900Z",
      },
    ]);
  });

  test.each([
    ["2026-01-31 00:00:00+00", "2026-01-31T00:00:00.000Z"],
    ["0001-01-01 00:00:00.000001+00", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31 23:59:59.999999+00", "9999-12-31T23:59:59.999Z"],
    ["2026-07-01 12:00:00.05+02", "2026-07-01T10:00:00.050Z"],
  ])("give the moment %s in our form, cut to the millisecond", async (text, moment) => {
    expect(await rowsOf("SELECT $1::text::timestamptz AS moment", [text])).toEqual([{ moment }]);
  });

  test("that have no form of ours are an error", async () => {
    for (const text of ["infinity", "0044-03-15 00:00:00+00 BC"]) {
      await read(async (connection) => {
        const send = (value: string) =>
          connection.any(statementOf("SELECT $1::timestamptz AS moment", [value]));
        await expect(send(text)).rejects.toThrow("not a timestamp in UTC");
      });
    }
  });

  test("are none where a statement gives none", async () => {
    expect(await rowsOf("SELECT 1 AS one WHERE $1::boolean", [false])).toEqual([]);
    expect(await rowsOf("SET application_name = 'x'")).toEqual([]);
  });
});

describe("parameters", () => {
  const words = [
    "",
    "NULL",
    "null",
    " ",
    "a,b",
    "{}",
    '"',
    "\\",
    '\\"',
    "it's",
    "ä 漢 🦉",
    "line\nend\ttab",
    null,
  ];

  test("of text come back as they were, one by one and in arrays", async () => {
    for (const word of words) {
      expect(await rowsOf("SELECT $1::text AS word", [word])).toEqual([{ word }]);
    }
    const rows = await rowsOf(
      "SELECT word FROM unnest($1::text[]) WITH ORDINALITY AS all_of (word, place) ORDER BY place",
      [words],
    );
    expect(rows).toEqual(words.map((word) => ({ word })));
  });

  test("may be numbers, truths, bytes and arrays of them, empty ones too", async () => {
    const bytes = Buffer.from([0, 34, 92, 255]);
    expect(
      await rowsOf(
        `SELECT $1::bigint AS number, $2::numeric AS big, $3::boolean AS truth, $4::bytea AS bytes,
                ($5::bytea[])[2] AS second, cardinality($6::uuid[]) AS length,
                ($7::integer[])[2][1] AS inner`,
        [42, 10n ** 30n, false, bytes, [null, bytes], [], [[1], [2]]],
      ),
    ).toEqual([
      { number: 42, big: 10n ** 30n, truth: false, bytes, second: bytes, length: 0, inner: 2 },
    ]);
  });

  const octets = [0, 34, 44, 92, 125, 255];

  test.each([
    ["a buffer", Buffer.from(octets)],
    ["an array of bytes", new Uint8Array(octets)],
    ["a part of a larger one", new Uint8Array([1, ...octets, 2]).subarray(1, -1)],
  ])("may be bytes, alone and in arrays: %s", async (_what, value) => {
    const { failures } = connections.usage;
    const rows = await rowsOf(
      "SELECT $1::bytea AS alone, ($2::bytea[])[1] AS first, ($2::bytea[])[2] AS second",
      [value, [value, null]],
    );
    const bytes = Buffer.from(octets);
    expect(rows).toEqual([{ alone: bytes, first: bytes, second: null }]);
    expect(connections.usage.failures).toBe(failures);
  });

  test("without a text of their own are refused before anything is sent", async () => {
    await read(async (connection) => {
      const send = (value: unknown) =>
        connection.any(statementOf("SELECT $1::text AS word", [value]));
      await expect(send({ a: 1 })).rejects.toThrow("a parameter can't be a object");
      await expect(send([Symbol("x")])).rejects.toThrow("a parameter can't be a symbol");
      expect(await send("fine")).toEqual([{ word: "fine" }]);
    });
  });
});

test("a connection that is given back with an open transaction is not lent again", async () => {
  const getBackend = (connection: Connection) =>
    connection.one(sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`);
  const held = await read((connection) => getBackend(connection.begin()));
  for (let borrowed = 0; borrowed < 3; borrowed += 1) {
    const { pid } = await connections.transaction(getBackend);
    expect(pid).not.toBe(held.pid);
  }
});

test("a connection that prepares nothing takes each statement as it comes", async () => {
  const plain = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 5_000 });
  const row = z.object({ count: z.number() });
  await plain.withConnection(async (connection) => {
    const send = (text: string, value: unknown) => connection.any(statementOf(text, [value]));
    expect(await send("SELECT $1::text AS word", "a")).toEqual([{ word: "a" }]);
    expect(
      await Promise.all([
        send("SELECT $1::bigint AS number", 2),
        send("SELECT $1::text AS w", "b"),
      ]),
    ).toEqual([[{ number: 2 }], [{ w: "b" }]]);
    expect(await send("SELECT 1 WHERE $1", false)).toEqual([]);
    const prepared = sql.type(row)`SELECT count(*) AS count FROM pg_prepared_statements`;
    expect(await connection.one(prepared)).toEqual({ count: 0 });
  });
  await plain.end();
});

test("a row that is not as its statement says is an error", async () => {
  const wrong = sql.type(z.object({ one: z.string() }))`SELECT 1 AS one`;
  await expect(connections.any(wrong)).rejects.toThrow(/expected string/i);
});

describe("a statement that fails", () => {
  test("rejects with what the database said, at its first use and later, and the next one is answered", async () => {
    await read(async (connection) => {
      const divide = (by: number) =>
        connection.any(statementOf("SELECT 6 / $1::integer AS result", [by]));
      await expect(divide(0)).rejects.toMatchObject({ code: "22012" });
      expect(await divide(3)).toEqual([{ result: 2 }]);
      await expect(divide(0)).rejects.toMatchObject({ code: "22012" });
      const answers = await Promise.allSettled([divide(2), divide(0), divide(1)]);
      expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    });
  });

  test("of wrong text rejects, and its name is free for what is right", async () => {
    await read(async (connection) => {
      await expect(connection.any(statementOf("SELEKT $1::text", ["x"]))).rejects.toMatchObject({
        code: "42601",
      });
      expect(await connection.any(statementOf("SELECT 1 AS one", []))).toEqual([{ one: 1 }]);
    });
  });
});

describe("a large statement in a transaction leaves before the others, and is", () => {
  const text = sql.type(z.object({ length: z.number() }))`
    SELECT length(word)::integer AS length FROM words ORDER BY 1`;
  const insert = (connection: Connection, word: string) =>
    connection.any(statementOf("INSERT INTO words VALUES ($1)", [word]));
  const large = "x".repeat(20_000);

  beforeAll(() =>
    connections.any(statementOf("CREATE TABLE words (word text CHECK (word <> ''))")),
  );

  test("undone with the others, also where one of them fails that was sent with it or later", async () => {
    const orders = [
      ["", large, "a"],
      ["a", large, ""],
      [large, "", large],
    ];
    for (const words of orders) {
      const writing = connections.transaction((transaction) =>
        Promise.all(words.map((word) => insert(transaction, word))),
      );
      await expect(writing).rejects.toMatchObject({ code: "23514" });
    }
    expect(await connections.any(text)).toEqual([]);
  });

  test("recorded with the others", async () => {
    await connections.transaction((transaction) =>
      Promise.all(["a", large, "bc"].map((word) => insert(transaction, word))),
    );
    expect(await connections.any(text)).toEqual([{ length: 1 }, { length: 2 }, { length: 20_000 }]);
  });
});

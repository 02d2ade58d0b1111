// Bytes as parameters of statements, alone and in arrays, as Node's buffers and as plain arrays of bytes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { WriteConnections } from "../../src/store/write-connections.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let connections: WriteConnections;

beforeAll(async () => {
  database = await createTestDatabase();
  connections = new WriteConnections({
    databaseUrl: database.url,
    connectionsMax: 1,
    lockTimeoutMs: 1_000,
    answerTimeoutMs: 10_000,
  });
});

afterAll(async () => {
  await connections.end();
  await database.drop();
});

const bytes = [0, 34, 44, 92, 125, 255];

test.each([
  ["a buffer", Buffer.from(bytes)],
  ["an array of bytes", new Uint8Array(bytes)],
  ["a part of a larger one", new Uint8Array([1, ...bytes, 2]).subarray(1, -1)],
])("%s arrives as it is", async (_what, value) => {
  const rows = await connections.read((sender) =>
    sender.send(
      {
        name: "echo_bytes",
        text: "SELECT $1::bytea AS alone, ($2::bytea[])[1] AS first, ($2::bytea[])[2] AS second",
      },
      [value, [value, null]],
    ),
  );
  expect(rows).toEqual([{ alone: Buffer.from(bytes), first: Buffer.from(bytes), second: null }]);
  expect(connections.usage.failures).toBe(0);
});

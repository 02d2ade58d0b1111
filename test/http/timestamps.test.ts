// Dates of entries, of reversals and in queries.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  pointers,
  postAndRead,
  postEntry,
  readEntry,
  written,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const post = (body: unknown) => service.post(entriesPath(service.books.ledgerId), body);

const accepted = [
  ["2026-01-31T23:59:59.999Z", "2026-01-31T23:59:59.999Z"],
  ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000Z"],
  ["2026-01-31T23:59Z", "2026-01-31T23:59:00.000Z"],
  ["2026-01-31t23:59:59.5z", "2026-01-31T23:59:59.500Z"],
  ["2026-01-31T23:59:59.9999999Z", "2026-01-31T23:59:59.999Z"],
  ["2026-02-01T01:00:00+01:30", "2026-01-31T23:30:00.000Z"],
  ["2026-01-31T23:00:00-02:00", "2026-02-01T01:00:00.000Z"],
  ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ["1582-10-10T00:00:00Z", "1582-10-10T00:00:00.000Z"],
] as const;

const refused = [
  "",
  "2026-01-31",
  "2026-01-31T23:59:59",
  "2026-01-31 23:59:59Z",
  "2026-01-31T23:59:60Z",
  "2026-01-31T24:00:00Z",
  "2026-02-30T00:00:00Z",
  "2026-02-29T00:00:00Z",
  "0000-06-01T00:00:00Z",
  "0001-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59-00:01",
  "10000-01-01T00:00:00Z",
  "-2026-01-01T00:00:00Z",
  "now",
  "infinity",
  1_767_225_600,
  true,
  {},
];

describe("the date of an entry", () => {
  test.each(accepted)("%s is kept as %s", async (transactionDate, expected) => {
    const read = await postAndRead(service, entry(1n, { transactionDate }));
    expect(read.transactionDate).toBe(expected);
  });

  test.each(refused)("is not %j", async (transactionDate) => {
    expect(pointers(await post(entry(1n, { transactionDate })))).toEqual(["#/transactionDate"]);
  });

  test("is the moment at which it was persisted, unless it is given", async () => {
    const read = await postAndRead(service, entry());
    expect(read.transactionDate).toBe(read.persistedAt);
  });

  test("may lie in the future", async () => {
    expect((await post(entry(1n, { transactionDate: "9000-01-01T00:00:00Z" }))).status).toBe(201);
  });
});

describe("the date of a reversal", () => {
  test.each(accepted)("%s is kept as %s", async (transactionDate, expected) => {
    const { journalId } = await postEntry(service, entry());
    const path = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    const reversal = written(await service.post(path, { transactionDate }));
    expect((await readEntry(service, reversal.journalId)).transactionDate).toBe(expected);
  });

  test.each(refused)("is not %j", async (transactionDate) => {
    const { journalId } = await postEntry(service, entry());
    const path = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    expect(pointers(await service.post(path, { transactionDate }))).toEqual(["#/transactionDate"]);
  });
});

describe("dates in a query", () => {
  test("may have any offset, percent-encoded", async () => {
    const ledgerId = await service.books.createLedger();
    for (const [transactionDate] of accepted) {
      written(await service.post(entriesPath(ledgerId), entry(1n, { transactionDate })));
    }
    const count = async (query: Record<string, string>) => {
      const search = new URLSearchParams(query).toString();
      const reply = await service.get(`${entriesPath(ledgerId)}?${search}`);
      return (reply.body as { total: number }).total;
    };
    expect(await count({ from: "0001-01-01T00:00Z" })).toBe(accepted.length);
    expect(await count({ from: "2026-02-01T02:30:00+03:00" })).toBe(8);
    expect(await count({ from: "9999-12-31T23:59:59.999z" })).toBe(1);
    expect(await count({ to: "0001-01-01T00:00Z" })).toBe(0);
  });

  test.each(refused.filter((text) => typeof text === "string"))("are not '%s'", async (text) => {
    for (const parameter of ["from", "to"]) {
      const query = new URLSearchParams({ [parameter]: text }).toString();
      const reply = await service.get(`${entriesPath(service.books.ledgerId)}?${query}`);
      expect(pointers(reply)).toEqual([parameter]);
    }
  });
});

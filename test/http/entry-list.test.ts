// Lists of entries: order, pages, filters, and pages that end by their bytes.
import { beforeAll, describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  listEntries,
  pointers,
  postEntry,
  problem,
  readEntry,
  reverseEntry,
} from "../support/entries.ts";
import { listEntries as listStored } from "../../src/store/entry-lists.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const count = 120;

/** Entry i of 1 … 120: dated day by day, every third one also on 1100, each with its externalId. */
function numbered(index: number) {
  return entry(BigInt(index), {
    externalId: `entry-${index}`,
    transactionDate: day(index),
    lines: [
      { glAccountCode: "1000", functionalAmount: String(index) },
      { glAccountCode: index % 3 === 0 ? "1100" : "4000", functionalAmount: String(-index) },
    ],
  });
}

/** Days run against the order of posting, so that a filter by date is not a range of sequences. */
function day(index: number): string {
  return new Date(Date.UTC(2026, 0, 1 + ((index * 7) % count))).toISOString();
}

beforeAll(async () => {
  for (let from = 1; from <= count; from += 40) {
    for (let index = from; index < from + 40; index += 1) await postEntry(service, numbered(index));
  }
});

async function sequences(query: string): Promise<number[]> {
  return (await listEntries(service, query)).entries.map(({ sequence }) => sequence);
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("the journal", () => {
  test("comes by sequence, 50 entries a page", async () => {
    const page = await listEntries(service);
    expect(page.entries.map(({ sequence }) => sequence)).toEqual(range(1, 50));
    expect(page.entries.map(({ externalId }) => externalId)).toEqual(
      range(1, 50).map((index) => `entry-${index}`),
    );
    expect([page.total, page.hasMore]).toEqual([count, true]);
  });

  test("has in its list what is read one by one", async () => {
    for (const listed of (await listEntries(service, "?limit=3&offset=40")).entries) {
      expect(listed).toEqual(await readEntry(service, listed.journalId));
    }
  });

  test("never goes back in time", async () => {
    const { entries } = await listEntries(service, "?limit=100");
    const times = entries.map(({ persistedAt }) => persistedAt);
    expect(times).toEqual([...times].sort());
  });

  test("of an empty ledger is empty", async () => {
    const ledgerId = await service.books.createLedger();
    for (const query of ["", "?offset=5", "?after=5", "?glAccountCode=1000"]) {
      expect(await listEntries(service, query, ledgerId)).toEqual({
        entries: [],
        total: 0,
        hasMore: false,
      });
    }
  });
});

describe("pages", () => {
  test.each([
    ["?limit=1", range(1, 1), true],
    ["?limit=100", range(1, 100), true],
    ["?limit=101", range(1, 100), true],
    ["?limit=99999999999999999999", range(1, 100), true],
    ["?limit=007", range(1, 7), true],
    ["?offset=0", range(1, 50), true],
    ["?offset=70", range(71, 120), false],
    ["?offset=69", range(70, 119), true],
    ["?limit=10&offset=115", range(116, 120), false],
    ["?offset=120", [], false],
    ["?offset=9007199254740991", [], false],
    ["?after=0", range(1, 50), true],
    ["?after=100", range(101, 120), false],
    ["?after=70&limit=50", range(71, 120), false],
    ["?after=9007199254740991", [], false],
  ])("of %s", async (query, expected, hasMore) => {
    const page = await listEntries(service, query);
    expect(page.entries.map(({ sequence }) => sequence)).toEqual(expected);
    expect(page.hasMore).toBe(hasMore);
    expect(page.total).toBe(count);
  });

  test.each([
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=",
    "limit",
    "limit=1.5",
    "limit=1e1",
    "limit=%201",
    "limit=+1",
    "limit=0x1",
    "offset=-1",
    "offset=abc",
    "offset=9007199254740992",
    "after=-1",
    "after=x",
    "after=9007199254740992",
  ])("are refused: %s", async (query) => {
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?${query}`);
    expect(pointers(reply)).toEqual([query.split("=")[0]]);
  });

  test("are not both offset and after", async () => {
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?offset=1&after=1`);
    expect(pointers(reply)).toEqual(["after"]);
  });

  test("tell every parameter that is wrong at once", async () => {
    const query = "limit=0&offset=x&from=y&to=z&externalId=&glAccountCode=%00&limit=1";
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?${query}`);
    expect(pointers(reply).sort()).toEqual([
      "externalId",
      "from",
      "glAccountCode",
      "limit",
      "offset",
      "to",
    ]);
  });

  test("refuse a known parameter twice and ignore unknown ones, repeated or not", async () => {
    const path = entriesPath(service.books.ledgerId);
    for (const name of ["limit", "offset", "after", "from", "to", "externalId", "glAccountCode"]) {
      const value = name === "from" || name === "to" ? "2026-01-01T00:00Z" : "1";
      const reply = await service.get(`${path}?${name}=${value}&${name}=${value}`);
      expect(problem(reply).errors).toEqual([{ detail: "is given twice", parameter: name }]);
    }
    expect(await sequences("?limit=2&x=1&x=2&&=&Limit=0&%zz=%zz&__proto__=1")).toEqual([1, 2]);
  });

  test("stay as they are while entries arrive", async () => {
    const ledgerId = await service.books.createLedger();
    for (const index of range(1, 10)) await postEntry(service, numbered(index), ledgerId);
    const before = await listEntries(service, "?limit=5&offset=3", ledgerId);
    for (const index of range(11, 20)) await postEntry(service, numbered(index), ledgerId);
    const after = await listEntries(service, "?limit=5&offset=3", ledgerId);
    expect(after).toEqual({ ...before, total: 20 });
  });
});

describe("filters", () => {
  const dated = (keep: (date: string) => boolean) => range(1, count).filter((i) => keep(day(i)));
  const [from, to] = ["2026-01-20T00:00:00.000Z", "2026-03-01T00:00:00.000Z"];

  test("by date take the first instant and leave out the last", async () => {
    for (const [query, expected] of [
      [`?from=${from}`, dated((date) => date >= from)],
      [`?to=${to}`, dated((date) => date < to)],
      [`?from=${from}&to=${to}`, dated((date) => date >= from && date < to)],
      [`?from=${to}&to=${from}`, []],
    ] as const) {
      const page = await listEntries(service, `${query}&limit=100`);
      expect(page.total).toBe(expected.length);
      expect(page.entries.map(({ sequence }) => sequence)).toEqual(expected.slice(0, 100));
      expect(page.hasMore).toBe(expected.length > 100);
    }
    const edge = day(13);
    expect(await sequences(`?from=${edge}&to=${edge}`)).toEqual([]);
    const next = new Date(Date.parse(edge) + 1).toISOString();
    expect(await sequences(`?from=${edge}&to=${next}`)).toEqual([13]);
  });

  test("by externalId and by account", async () => {
    expect(await sequences("?externalId=entry-77")).toEqual([77]);
    expect(await sequences("?externalId=entry-7")).toEqual([7]);
    expect(await sequences("?externalId=no")).toEqual([]);
    const thirds = range(1, count).filter((index) => index % 3 === 0);
    const page = await listEntries(service, "?glAccountCode=1100&limit=100");
    expect(page.entries.map(({ sequence }) => sequence)).toEqual(thirds);
    expect([page.total, page.hasMore]).toEqual([40, false]);
    expect(await sequences("?glAccountCode=no")).toEqual([]);
  });

  test("work together and with pages", async () => {
    const query = `?glAccountCode=1100&from=${from}&to=${to}`;
    const expected = dated((date) => date >= from && date < to).filter((i) => i % 3 === 0);
    expect(expected.length).toBeGreaterThan(10);
    const first = await listEntries(service, `${query}&limit=5`);
    expect(first.entries.map(({ sequence }) => sequence)).toEqual(expected.slice(0, 5));
    expect([first.total, first.hasMore]).toEqual([expected.length, true]);
    const second = await listEntries(service, `${query}&limit=5&offset=5`);
    expect(second.entries.map(({ sequence }) => sequence)).toEqual(expected.slice(5, 10));
    const rest = await listEntries(service, `${query}&limit=100&after=${expected[9] ?? 0}`);
    expect(rest.entries.map(({ sequence }) => sequence)).toEqual(expected.slice(10));
    expect(rest.hasMore).toBe(false);
    const all = await listEntries(service, `${query}&limit=${expected.length}`);
    expect([all.entries.length, all.hasMore]).toEqual([expected.length, false]);
    expect(await sequences(`${query}&externalId=entry-1`)).toEqual([]);
  });

  test("list an entry once, though many of its lines match", async () => {
    const ledgerId = await service.books.createLedger();
    const lines = [...entry().lines, ...entry().lines];
    await postEntry(service, { lines }, ledgerId);
    expect(await listEntries(service, "?glAccountCode=1000", ledgerId)).toMatchObject({
      total: 1,
      entries: [{ sequence: 1 }],
    });
  });
});

test("a list tells which entries have been reversed, and by which", async () => {
  const ledgerId = await service.books.createLedger();
  const { journalId } = await postEntry(service, entry(), ledgerId);
  await postEntry(service, entry(), ledgerId);
  const reversal = await reverseEntry(service, journalId, ledgerId);
  const { entries } = await listEntries(service, "", ledgerId);
  expect(entries.map((each) => [each.reversedByJournalId, each.reversesJournalId])).toEqual([
    [reversal.journalId, null],
    [null, null],
    [null, journalId],
  ]);
});

describe("a page of large entries", () => {
  const pageBytesMax = 8 * 1024 * 1024;
  const entries = 30;
  let ledgerId: string;

  beforeAll(async () => {
    ledgerId = await service.books.createLedger();
    // Characters that take six bytes each as JSON: in the books they are far smaller than in an answer.
    const description = "\u0001".repeat(160);
    const lines = Array.from({ length: 600 }, (_, index) => ({
      glAccountCode: "1000",
      functionalAmount: String(index % 2 === 0 ? 1 : -1),
      description,
    }));
    for (let index = 0; index < entries; index += 1) await postEntry(service, { lines }, ledgerId);
  });

  test("ends before it weighs over 8 MiB, and says that there is more", async () => {
    const reply = await service.get(`${entriesPath(ledgerId)}?limit=100`);
    const page = reply.body as { entries: unknown[]; total: number; hasMore: boolean };
    expect(reply.text.length).toBeLessThanOrEqual(pageBytesMax);
    // Not far below either: what is weighed is close to what is sent.
    expect(reply.text.length).toBeGreaterThan(0.8 * pageBytesMax);
    expect(page.entries.length).toBeLessThan(entries);
    expect(page).toMatchObject({ total: entries, hasMore: true });
  });

  test.each(["", "&glAccountCode=1000"])("leaves nothing out between pages%s", async (filter) => {
    for (const by of ["offset", "after"]) {
      const seen: number[] = [];
      for (let isMore = true; isMore;) {
        // Sequences have no gaps: what has been seen is the last one's.
        const query = `?limit=100&${by}=${seen.length}${filter}`;
        const page = await listEntries(service, query, ledgerId);
        seen.push(...page.entries.map(({ sequence }) => sequence));
        expect(page.total).toBe(entries);
        isMore = page.hasMore;
      }
      expect(seen).toEqual(range(1, entries));
    }
  });

  test("has no fewer than it was asked for where they fit", async () => {
    const page = await listEntries(service, "?limit=2&after=5", ledgerId);
    expect(page.entries.map(({ sequence }) => sequence)).toEqual([6, 7]);
    expect(page.hasMore).toBe(true);
  });

  test("has one entry at least, whatever that weighs", async () => {
    const page = await listStored(service.books.pool, ledgerId, {
      filter: { from: null, to: null, externalId: null, glAccountCode: null },
      afterSequence: 3,
      upToSequence: entries,
      offset: 0,
      limit: 100,
      bytesMax: 1,
    });
    expect(page.entries.map(({ sequence }) => sequence)).toEqual([4]);
    expect(page.hasMore).toBe(true);
  });
});

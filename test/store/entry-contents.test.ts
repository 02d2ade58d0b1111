// The content of entries page by page: what single entries are read as, and never more than was asked for.
import { beforeAll, expect, test } from "vitest";
import { canonicalEntry, type EntryContent } from "../../src/core/canonical.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { Connection } from "../../src/store/database/connection.ts";
import type { Pool } from "../../src/store/database/pool.ts";
import { queryText, type Statement } from "../../src/store/database/statement.ts";
import { readEntryContents, type ClosedEntries } from "../../src/store/entry-contents.ts";
import { everyEntry, listEntries } from "../../src/store/entry-lists.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

const farFuture = "9999-12-31T23:59:59.999Z" as Timestamp;
const everything = {
  startsAt: null,
  endsAt: farFuture,
  afterSequence: 0,
  upToSequence: 1_000,
  entryCount: 1_000,
};
const awkward = 'a "quote" \\ \u0001\u2028\u007f é 😀 \t';

beforeAll(async () => {
  const { books } = service;
  await postEntry(
    service,
    entry(7n, {
      externalId: awkward,
      description: awkward,
      eventType: "sale",
      originSystem: "shop",
      originAccount: "till 1",
      entryType: "ADJUSTING",
      transactionDate: "2026-01-05T10:00:00.120Z",
      metadata: { z: [1, 1e-7, 12.5, { b: null, a: awkward }], é: true, "": 1e21 },
    }),
  );
  await postEntry(service, entry(10n ** 37n, { transactionDate: "0001-01-01T00:00:00Z" }));
  const { journalId } = await postEntry(service, {
    transactionDate: "2026-02-01T00:00:00.001Z",
    lines: [
      { glAccountCode: "1000", functionalAmount: "-3", description: awkward },
      ...[1, 2].map((amount) => ({
        glAccountCode: "4000",
        functionalAmount: String(amount),
        transactionAmount: String(2 * amount),
        transactionCurrency: "EUR",
        spotRate: 0.1 + 0.2,
      })),
    ],
  });
  await service.post(`${entriesPath(books.ledgerId)}/${journalId}/reversal`, {});
  for (let amount = 1; amount <= 4; amount += 1) {
    const metadata = { text: "x".repeat(10_000) };
    const transactionDate = `2026-03-0${amount}T00:00:00Z`;
    await postEntry(service, entry(amount, { metadata, transactionDate }));
  }
});

const megabyte = 1024 * 1024;

async function readPages(more: Partial<ClosedEntries>, bytesMax: number) {
  const { pool, ledgerId } = service.books;
  const closed: ClosedEntries = { ...everything, ledgerId, ...more };
  const pages: (readonly EntryContent[])[] = [];
  for await (const page of readEntryContents(pool, closed, bytesMax)) pages.push(page);
  return pages;
}

const sequencesOf = (contents: readonly EntryContent[]) => contents.map(({ sequence }) => sequence);

async function sequences(more: Partial<ClosedEntries>, bytesMax = megabyte) {
  return (await readPages(more, bytesMax)).map(sequencesOf);
}

test("is to the byte what lists of entries have, whatever is in them", async () => {
  const { pool, ledgerId } = service.books;
  const page = { ...everything, filter: everyEntry, offset: 0, limit: 100, bytesMax: megabyte };
  const { entries } = await listEntries(pool, ledgerId, page);
  expect(entries).toHaveLength(8);
  const [contents = []] = await readPages({}, megabyte);
  expect(contents.map(canonicalEntry)).toEqual(entries.map(canonicalEntry));
});

test("begins and ends where the span does, in sequence and in date", async () => {
  expect(await sequences({ afterSequence: 2, upToSequence: 5 })).toEqual([[3, 4, 5]]);
  const startsAt = "2026-01-05T10:00:00.120Z" as Timestamp;
  const endsAt = "2026-02-01T00:00:00.001Z" as Timestamp;
  expect(await sequences({ startsAt, endsAt })).toEqual([[1]]);
  expect(await sequences({ afterSequence: 8 })).toEqual([]);
});

test("has pages of so many bytes at most, and of one entry at least", async () => {
  const heavy = { afterSequence: 4, upToSequence: 8 };
  expect(await sequences(heavy, 25_000)).toEqual([
    [5, 6],
    [7, 8],
  ]);
  expect(await sequences(heavy, 1)).toEqual([[5], [6], [7], [8]]);
  // Lines have texts, too.
  const description = "x".repeat(1_024);
  const lines = entry(1n).lines.map((line) => ({ ...line, description }));
  for (const amount of [1n, 2n]) await postEntry(service, entry(amount, { lines }));
  expect(await sequences({ afterSequence: 8 }, 4_000)).toEqual([[9], [10]]);
});

test("looks for more entries as long as there are to be some", async () => {
  const { ledgerId } = service.books;
  const entries = Array.from({ length: 300 }, () => entry());
  await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  const all = await sequences({ afterSequence: 10 }, 60_000);
  expect(all.length).toBeGreaterThan(3);
  expect(all.flat()).toEqual(Array.from({ length: 300 }, (_, index) => index + 11));
  // One more than a close has, which is there only if somebody put it there.
  for (const entryCount of [100, 150]) {
    const found = await sequences({ afterSequence: 10, entryCount });
    expect(found.flat()).toHaveLength(entryCount + 1);
  }
});

test("finds the entries of a period that are far apart", async () => {
  const { ledgerId } = service.books;
  const post = async (day: string, count: number) => {
    const entries = Array.from({ length: count }, () => entry(1n, { transactionDate: day }));
    await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  };
  const [may, june] = ["2026-05-31T00:00:00.000Z", "2026-06-01T00:00:00.000Z"] as const;
  await post(may, 2);
  for (let bulk = 0; bulk < 5; bulk += 1) await post(june, 1_000);
  await post(may, 2);
  const period = { startsAt: may as Timestamp, endsAt: june as Timestamp };
  const found = await sequences({ ...period, upToSequence: 10_000 });
  expect(found.flat()).toEqual([311, 312, 5_313, 5_314]);
});

test("looks at fewer entries where they are heavy", async () => {
  const { pool, ledgerId } = service.books;
  // Short where they are stored: as JSON each number has 309 digits.
  const metadata = { numbers: Array.from({ length: 1_500 }, () => 1e308) };
  const entries = Array.from({ length: 50 }, () => entry(1n, { metadata }));
  for (let bulk = 0; bulk < 4; bulk += 1) {
    await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  }
  const counting = new CountingConnection(pool);
  const closed = { ...everything, ledgerId, afterSequence: 5_314, upToSequence: 10_000 };
  let count = 0;
  for await (const page of readEntryContents(counting, closed, megabyte)) count += page.length;
  expect(count).toBe(200);
  expect(Math.max(...counting.limits)).toBeLessThanOrEqual(100);
});

/** A pool that keeps in mind how many entries it was asked to weigh at most. */
class CountingConnection extends Connection {
  readonly limits: number[] = [];
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super();
    this.#pool = pool;
  }

  protected override send(statement: Statement): Promise<readonly object[]> {
    const { text } = queryText(statement);
    const [, place] = /ORDER BY sequence LIMIT \$(\d+)/.exec(text) ?? [];
    if (place !== undefined) this.limits.push(Number(statement.values[Number(place) - 1]));
    return this.#pool.withConnection((connection) => connection.sendStatement(statement));
  }

  override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
    return this.#pool.transaction(work);
  }
}

// Searches in entries and lists in other orders, against the entries that the API lists by sequence.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/contract/types.ts";
import { Pool } from "../../src/store/database/pool.ts";
import {
  entriesPath,
  entry,
  listEntries,
  pointers,
  postEntry,
  reverseEntry,
  type ReadEntry,
} from "../support/entries.ts";
import {
  aTime,
  postAll,
  queryOf,
  randomChart,
  randomCodes,
  readAll,
  sampleEntries,
  sumSpans,
} from "../support/random-books.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
let pool: Pool;

beforeAll(() => {
  const { databaseUrl } = service.books;
  pool = new Pool({ databaseUrl, connectionsMax: 4, answerTimeoutMs: 60_000 });
});

afterAll(() => pool.end());

interface Search {
  readonly text?: string | null;
  readonly amount?: bigint | null;
  readonly minAmount?: bigint | null;
  readonly maxAmount?: bigint | null;
  readonly entryType?: string | null;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly glAccountCode?: string | null;
}

/** All scalars inside a value of JSON, as texts. */
function scalarsIn(value: JsonValue): string[] {
  if (value === null) return [];
  return typeof value === "object" ? Object.values(value).flatMap(scalarsIn) : [String(value)];
}

function passes(search: Search, found: ReadEntry): boolean {
  const { text = null, amount = null, entryType = null, glAccountCode = null } = search;
  const least = amount ?? search.minAmount ?? 0n;
  const most = amount ?? search.maxAmount ?? 10n ** 40n;
  const texts = [
    found.description,
    found.externalId,
    ...found.lines.map((line) => line["description"] as string | null),
    ...scalarsIn(found.metadata as JsonObject),
  ];
  const amounts = found.lines.map((line) => {
    const value = BigInt(String(line["functionalAmount"]));
    return value < 0n ? -value : value;
  });
  return (
    (text === null ||
      texts.some((each) => each?.toLowerCase().includes(text.toLowerCase()) === true)) &&
    amounts.some((value) => value >= least && value <= most) &&
    (entryType === null || found.entryType === entryType) &&
    (search.from == null || found.transactionDate >= search.from) &&
    (search.to == null || found.transactionDate < search.to) &&
    (glAccountCode === null || found.lines.some((line) => line["glAccountCode"] === glAccountCode))
  );
}

const texts = ["RENT", "ärg", "50%", "a_B\\", '"hi"', "\t", "4711", "entry 7-1", "1", "none", ".*"];
const anAmount = fc.option(fc.bigInt({ min: 1n, max: 99n }));
const aSearch = fc.record({
  text: fc.option(fc.constantFrom(...texts)),
  amounts: fc.oneof(
    fc.record({ amount: anAmount }),
    fc.record({ minAmount: anAmount, maxAmount: fc.option(fc.constant(10n ** 37n)) }),
  ),
  entryType: fc.option(fc.constantFrom("STANDARD", "CLOSING", "REVERSAL", "OPENING")),
  from: fc.option(aTime),
  to: fc.option(aTime),
  glAccountCode: fc.option(fc.constantFrom(...randomCodes)),
});
const anOrder = fc.record({
  order: fc.constantFrom("sequence", "date", undefined),
  direction: fc.constantFrom("asc", "desc", undefined),
  limit: fc.integer({ min: 1, max: 100 }),
  start: fc.oneof(
    fc.record({ offset: fc.integer({ min: 0, max: 150 }) }),
    fc.record({ after: fc.integer({ min: 0, max: 170 }) }),
  ),
});

describe.each([
  ["nothing is summed", []],
  ["spans of 16 entries", [16]],
  ["spans of several lengths", [100, 7, 64]],
])("with %s", (_, spans) => {
  let ledgerId: string;
  let entries: readonly ReadEntry[];

  beforeAll(async () => {
    ledgerId = await service.books.createLedger({ chart: randomChart });
    const generated = sampleEntries(160, 7);
    const first = 150 - spans.length * 30;
    await postAll(service, ledgerId, generated.slice(0, first));
    for (const [index, span] of spans.entries()) {
      await sumSpans(pool, span);
      const next = first + index * 30;
      await postAll(service, ledgerId, generated.slice(next, next + 30));
    }
    await postAll(service, ledgerId, generated.slice(150));
    const [reversed] = await readAll(service, ledgerId);
    await reverseEntry(service, reversed?.journalId ?? "", ledgerId);
    entries = await readAll(service, ledgerId);
  });

  test("any page of any search, in any order, has its entries, and the total", async () => {
    const property = fc.asyncProperty(aSearch, anOrder, async ({ amounts, ...rest }, asked) => {
      const { order, direction, limit, start } = asked;
      const search: Search = { ...rest, ...amounts };
      const { offset = 0, after = null } = start as { offset?: number; after?: number };
      fc.pre(after === null || order !== "date");
      const query = queryOf({ ...search, order, direction, limit, ...start });
      const page = await listEntries(service, query, ledgerId);
      const sign = direction === "desc" ? -1 : 1;
      const found = entries
        .filter((each) => passes(search, each))
        .sort((a, b) => {
          const byDate = order === "date" ? a.transactionDate.localeCompare(b.transactionDate) : 0;
          return sign * (byDate || a.sequence - b.sequence);
        });
      const following = found
        .filter(({ sequence }) => after === null || sign * (sequence - after) > 0)
        .slice(offset);
      expect(page.entries).toEqual(following.slice(0, limit));
      expect({ total: page.total, hasMore: page.hasMore }).toEqual({
        total: found.length,
        hasMore: following.length > limit,
      });
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

describe("a text", () => {
  let ledgerId: string;
  beforeAll(async () => {
    ledgerId = await service.books.createLedger();
    const metadata = { customer: { name: "Straße 1" }, paid: true, count: 12.5 };
    await postEntry(service, entry(1, { externalId: "one", metadata }), ledgerId);
    await postEntry(service, entry(2, { externalId: "two", description: "Îles [a-z]" }), ledgerId);
  });

  test.each([
    ["ONE", ["one"]],
    ["îLES", ["two"]],
    ["[A-Z]", ["two"]],
    ["x", []],
    ["STRAßE", ["one"]],
    ["12.5", ["one"]],
    ["TRUE", ["one"]],
    ["customer", []],
    ["name", []],
    ['"', []],
    [":", []],
    ["***", []],
    ["(?i)", []],
  ])("%s is found in %j", async (text, externalIds) => {
    const { entries, total } = await listEntries(service, queryOf({ text }), ledgerId);
    expect(entries.map(({ externalId }) => externalId)).toEqual(externalIds);
    expect(total).toBe(externalIds.length);
  });
});

describe("refuses", () => {
  test.each([
    ["text=", ["text"]],
    ["text=%00", ["text"]],
    ["amount=0", ["amount"]],
    ["amount=-5", ["amount"]],
    ["amount=1.50", ["amount"]],
    [`minAmount=1${"0".repeat(38)}`, ["minAmount"]],
    ["amount=5&maxAmount=7", ["amount"]],
    ["minAmount=8&maxAmount=7", ["maxAmount"]],
    ["entryType=standard", ["entryType"]],
    ["order=amount", ["order"]],
    ["direction=up", ["direction"]],
    ["order=date&after=5", ["after"]],
    ["offset=1&after=5", ["after"]],
  ])("?%s", async (query, named) => {
    const reply = await service.get(`${entriesPath(service.books.ledgerId)}?${query}`);
    expect(pointers(reply)).toEqual(named);
  });
});

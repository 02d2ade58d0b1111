// Registers of accounts, against what is added up from the entries that the API lists.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerReply } from "../../src/contract/book-replies.ts";
import type { Register, RegisterLine } from "../../src/contract/types.ts";
import { Pool } from "../../src/store/database/pool.ts";
import {
  entry,
  pointers,
  postEntry,
  problem,
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

interface Asked {
  readonly from: string | null;
  readonly to: string | null;
  readonly currency: string | null;
}

const pathOf = (ledgerId: string, code: string) =>
  `/v1/ledgers/${ledgerId}/accounts/${encodeURIComponent(code)}/register`;

async function read(
  ledgerId: string,
  code: string,
  query: Parameters<typeof queryOf>[0] = {},
): Promise<Register> {
  const reply = await service.get(`${pathOf(ledgerId, code)}${queryOf(query)}`);
  expect(reply.status, reply.text).toBe(200);
  expect(registerReply.parse(reply.body)).toEqual(reply.body);
  return reply.body as Register;
}

/** A register as somebody makes it by hand: all lines sorted by date, entry and line, and a balance that runs along. */
function registerOf(entries: readonly ReadEntry[], code: string, { from, to, currency }: Asked) {
  const all = entries
    .flatMap((each) => each.lines.map((line, number) => ({ each, line, number })))
    .filter(({ line }) => line["glAccountCode"] === code)
    .filter(({ line }) => currency === null || line["transactionCurrency"] === currency)
    .sort(
      (a, b) =>
        a.each.transactionDate.localeCompare(b.each.transactionDate) ||
        a.each.sequence - b.each.sequence ||
        a.number - b.number,
    );
  let balance = 0n;
  let opening = 0n;
  let closing = 0n;
  const lines: RegisterLine[] = [];
  for (const { each, line } of all) {
    const amount = currency === null ? line["functionalAmount"] : line["transactionAmount"];
    balance += BigInt(String(amount));
    if (to === null || each.transactionDate < to) closing = balance;
    if (from !== null && each.transactionDate < from) opening = balance;
    if (from !== null && each.transactionDate < from) continue;
    if (to !== null && each.transactionDate >= to) continue;
    const others = each.lines.map((other) => String(other["glAccountCode"]));
    lines.push({
      journalId: each.journalId,
      sequence: each.sequence,
      transactionDate: each.transactionDate,
      entryType: each.entryType as RegisterLine["entryType"],
      description: (line["description"] as string | null) ?? each.description,
      amount: String(amount),
      balance: String(balance),
      currency: currency ?? "USD",
      transactionAmount: String(line["transactionAmount"]),
      transactionCurrency: String(line["transactionCurrency"]),
      counterAccounts: [...new Set(others.filter((other) => other !== code))],
      externalId: each.externalId,
      reversesJournalId: each.reversesJournalId,
      reversedByJournalId: each.reversedByJournalId,
    });
  }
  return { opening: String(opening), lines, closing: String(closing) };
}

/** The balance of an account before a moment, in a currency or in the functional one, and the entries that are in it. */
function balanceOf(entries: readonly ReadEntry[], { code, asOf, currency }: AskedBalance) {
  let balance = 0n;
  let entryCount = 0;
  for (const { transactionDate, lines } of entries) {
    const own = lines.filter(
      (line) =>
        line["glAccountCode"] === code &&
        (currency === null || line["transactionCurrency"] === currency),
    );
    if (own.length === 0 || transactionDate >= asOf) continue;
    entryCount += 1;
    const amount = currency === null ? "functionalAmount" : "transactionAmount";
    for (const line of own) balance += BigInt(String(line[amount]));
  }
  return { balance: String(balance), entryCount };
}

interface AskedBalance {
  readonly code: string;
  readonly asOf: string;
  readonly currency: string | null;
}

const aBalance = fc.record({
  code: fc.constantFrom(...randomCodes),
  asOf: aTime,
  currency: fc.option(fc.constantFrom("USD", "EUR", "JPY", "XXX")),
});

const aRegister = fc.record({
  code: fc.constantFrom(...randomCodes),
  from: fc.option(aTime),
  to: fc.option(aTime),
  currency: fc.option(fc.constantFrom("USD", "EUR", "JPY", "XXX")),
  limit: fc.integer({ min: 1, max: 100 }),
});

describe.each([
  ["nothing is summed", []],
  ["spans of 16 entries", [16]],
  ["spans of several lengths", [100, 7, 64]],
  ["spans of one entry", [1]],
])("with %s", (_, spans) => {
  let ledgerId: string;

  beforeAll(async () => {
    ledgerId = await service.books.createLedger({ chart: randomChart });
    const generated = sampleEntries(220, 12);
    const first = 200 - spans.length * 40;
    await postAll(service, ledgerId, generated.slice(0, first));
    for (const [index, span] of spans.entries()) {
      await sumSpans(pool, span);
      await postAll(
        service,
        ledgerId,
        generated.slice(first + index * 40, first + (index + 1) * 40),
      );
    }
    await postAll(service, ledgerId, generated.slice(200));
    const [reversed] = await readAll(service, ledgerId);
    await reverseEntry(service, reversed?.journalId ?? "", ledgerId);
  });

  test("any register, page by page, is what its lines add up to", async () => {
    const entries = await readAll(service, ledgerId);
    const property = fc.asyncProperty(aRegister, async ({ code, limit, ...asked }) => {
      fc.pre(asked.from === null || asked.to === null || asked.from < asked.to);
      const expected = registerOf(entries, code, asked);
      const lines: RegisterLine[] = [];
      let cursor: string | null = null;
      do {
        const page: Register = await read(ledgerId, code, { ...asked, limit, cursor });
        expect(page.account.glAccountCode).toBe(code);
        expect([page.opening, page.closing]).toEqual([expected.opening, expected.closing]);
        lines.push(...page.lines);
        cursor = page.nextCursor;
        expect(page.lines).toHaveLength(
          cursor === null ? page.lines.length : Math.min(limit, expected.lines.length),
        );
      } while (cursor !== null);
      expect(lines).toEqual(expected.lines);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("the balance of any moment, in any currency, is that of the lines before it, and counts their entries", async () => {
    const entries = await readAll(service, ledgerId);
    const property = fc.asyncProperty(aBalance, async ({ code, asOf, currency }) => {
      const query = queryOf({ account: code, asOf, currency });
      const reply = await service.get(`/v1/ledgers/${ledgerId}/balances${query}`);
      expect(reply.status, reply.text).toBe(200);
      // A number of JSON has more digits here than a double.
      const [, balance] = /"balance":(-?\d+)/.exec(reply.text) ?? [];
      const { entryCount } = reply.body as { entryCount: number };
      const expected = balanceOf(entries, { code, asOf, currency });
      expect({ balance, entryCount }).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test("what is posted, summed and closed between pages moves nothing", async () => {
    const code = randomCodes[0] ?? "";
    for (const currency of [null, "EUR"]) {
      const entries = await readAll(service, ledgerId);
      const asked = { from: "2025-12-31T11:30:00.000Z", to: null, currency };
      const expected = registerOf(entries, code, asked);
      const lines: RegisterLine[] = [];
      let cursor: string | null = null;
      let turn = 0;
      do {
        const page: Register = await read(ledgerId, code, { ...asked, limit: 6, cursor });
        expect([page.opening, page.closing]).toEqual([expected.opening, expected.closing]);
        lines.push(...page.lines);
        cursor = page.nextCursor;
        turn += 1;
        const seed = 100 * turn + (currency === null ? 0 : 50);
        await postAll(service, ledgerId, sampleEntries(9, seed));
        await sumSpans(pool, turn === 2 ? 5 : 50);
      } while (cursor !== null);
      expect(lines.map(({ balance }) => balance)).toEqual(
        expected.lines.map(({ balance }) => balance),
      );
      expect(turn).toBeGreaterThan(2);
    }
  });
});

test("a register of a period has the bounds of its close, in all of its pages", async () => {
  const ledgerId = await service.books.createLedger();
  const dates = ["2026-01-31T22:59:00Z", "2026-01-31T23:30:00Z", "2026-02-01T00:00:00Z"];
  for (const transactionDate of dates) {
    await postEntry(service, entry(5, { transactionDate }), ledgerId);
  }
  const first = await read(ledgerId, "1000", { periodId: "2026-02", limit: 1 });
  expect([first.opening, first.closing, first.nextCursor]).toEqual(["10", "15", null]);
  const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
    periodId: "2026-02",
    startsAt: "2026-01-31T23:00:00Z",
    endsAt: "2026-02-28T23:00:00Z",
  });
  expect(closed.status, closed.text).toBe(201);
  const page = await read(ledgerId, "1000", { periodId: "2026-02", limit: 1 });
  expect([page.opening, page.closing]).toEqual(["5", "15"]);
  const rest = { periodId: "2026-02", limit: 1, cursor: page.nextCursor };
  expect((await read(ledgerId, "1000", rest)).lines).toMatchObject([{ balance: "15" }]);
});

test("names the account, and is empty for one without lines", async () => {
  const ledgerId = await service.books.createLedger();
  expect(await read(ledgerId, "2000")).toEqual({
    account: { glAccountCode: "2000", name: "Account 2000", type: null, active: true },
    opening: "0",
    lines: [],
    closing: "0",
    nextCursor: null,
  });
});

test("takes 50 lines to a page, and at most 100", async () => {
  const ledgerId = await service.books.createLedger();
  await postAll(
    service,
    ledgerId,
    Array.from({ length: 120 }, () => entry(1)),
  );
  const lengths = [{}, { limit: 100 }, { limit: 1000 }].map(
    async (query) => (await read(ledgerId, "1000", query)).lines.length,
  );
  expect(await Promise.all(lengths)).toEqual([50, 100, 100]);
});

test("a page ends early where its lines would weigh too much, and the next goes on", async () => {
  const chart = Array.from({ length: 999 }, (_, index) => ({
    glAccountCode: `${"€".repeat(250)}${index}`,
    name: "x",
    type: null,
    active: true,
  }));
  const ledgerId = await service.books.createLedger({ chart });
  const lines = chart.map(({ glAccountCode }, index) => ({
    glAccountCode,
    functionalAmount: index === 0 ? "-998" : "1",
  }));
  for (let count = 0; count < 14; count += 1) await postEntry(service, { lines }, ledgerId);
  const code = chart[0]?.glAccountCode ?? "";
  const first = await read(ledgerId, code, { limit: 100 });
  expect(first.lines.length).toBeLessThan(14);
  const second = await read(ledgerId, code, { limit: 100, cursor: first.nextCursor });
  expect(first.lines.length + second.lines.length).toBe(14);
  expect(second.lines.at(-1)?.balance).toBe(String(-998 * 14));
});

describe("refuses", () => {
  test.each(["none", "%00", "1000%20", "%F0%9F%92%A9", "a".repeat(300)])(
    "the account %s, which the chart does not have",
    async (code) => {
      const { ledgerId } = service.books;
      const reply = await service.get(`/v1/ledgers/${ledgerId}/accounts/${code}/register`);
      expect(reply.status, reply.text).toBe(404);
      expect(problem(reply).code).toBe("ACCOUNT_NOT_FOUND");
    },
  );

  test.each([
    ["limit=0", ["limit"]],
    ["limit=x&from=2026", ["from", "limit"]],
    ["from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z", ["to"]],
    ["from=2026-02-01T00:00:00Z&periodId=2026", ["periodId"]],
    ["periodId=2026-13", ["periodId"]],
    ["currency=", ["currency"]],
    ["cursor=", ["cursor"]],
    ["cursor=AAAA", ["cursor"]],
    ["cursor=%00", ["cursor"]],
  ])("?%s", async (query, named) => {
    const path = pathOf(service.books.ledgerId, "1000");
    expect(pointers(await service.get(`${path}?${query}`)).sort()).toEqual(named);
  });

  test("a label that means no period: 404", async () => {
    const reply = await service.get(
      `${pathOf(service.books.ledgerId, "1000")}?periodId=my%20period`,
    );
    expect(problem(reply).code).toBe("CLOSE_NOT_FOUND");
  });

  test("a cursor with any character changed, cut, or of another register", async () => {
    const ledgerId = await service.books.createLedger();
    for (const amount of [1, 2, 3]) await postEntry(service, entry(amount), ledgerId);
    const { nextCursor } = await read(ledgerId, "1000", { limit: 1 });
    const cursor = nextCursor ?? "";
    const path = pathOf(ledgerId, "1000");
    const changed = fc.asyncProperty(
      fc.nat(cursor.length - 1),
      fc.constantFrom("", "A", "_", "~"),
      async (place, character) => {
        const other = cursor.slice(0, place) + character + cursor.slice(place + 1);
        fc.pre(other !== cursor);
        const reply = await service.get(`${path}?limit=1&cursor=${other}`);
        expect(pointers(reply)).toEqual(["cursor"]);
      },
    );
    await fc.assert(changed, { numRuns: 50 });
    for (const target of [
      `${pathOf(ledgerId, "4000")}?cursor=${cursor}`,
      `${path}?currency=USD&cursor=${cursor}`,
      `${path}?to=2027-01-01T00:00:00Z&cursor=${cursor}`,
    ]) {
      expect(pointers(await service.get(target))).toEqual(["cursor"]);
    }
    // Another number of lines is no other register.
    expect((await read(ledgerId, "1000", { limit: 9, cursor })).lines).toHaveLength(2);
  });
});

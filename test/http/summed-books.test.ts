// What is read with sums by day is what comes of the entries one by one: trial balances, previews, closes and every page
// of filtered lists, whatever is summed already.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import { TrialBalance, type BalanceRow } from "../../src/core/close.ts";
import type { Timestamp } from "../../src/core/time.ts";
import type { ClosePreview } from "../../src/contract/types.ts";
import { DaySums } from "../../src/engine/day-sums.ts";
import { readTrialBalance } from "../../src/engine/trial-balances.ts";
import { readSummedSequence } from "../../src/store/day-sums.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { entriesPath, type ReadEntry, type ReadPage } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { forge } from "../support/tampering.ts";

const service = serveBooks();
let pool: Pool;

beforeAll(() => {
  pool = new Pool({
    databaseUrl: service.books.databaseUrl,
    connectionsMax: 4,
    answerTimeoutMs: 60_000,
  });
});

afterAll(() => pool.end());

const codes = ["1000", "1100", "2000", "4000"];
/** Midnights and the milliseconds around them, the middle of days, and the ends of the calendar. */
const times = [
  ...["2025-12-31", "2026-01-01", "2026-01-02", "2026-01-03", "2026-02-01"].flatMap((day) => [
    `${day}T00:00:00.000Z`,
    `${day}T00:00:00.001Z`,
    `${day}T11:30:00.000Z`,
    `${day}T23:59:59.999Z`,
  ]),
  "0001-01-01T00:00:00.000Z",
  "1969-12-31T23:59:59.999Z",
  "9999-12-31T12:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
];
const time = fc.constantFrom(...times);
const amount = fc.oneof(fc.bigInt({ min: 1n, max: 99n }), fc.constant(10n ** 37n));

/** Lines in pairs, which may be of one account, some in another currency. */
const anEntry = fc.record({
  transactionDate: time,
  entryType: fc.constantFrom("STANDARD", "CLOSING"),
  lines: fc
    .array(
      fc.record({
        debit: fc.constantFrom(...codes),
        credit: fc.constantFrom(...codes),
        amount,
        currency: fc.constantFrom("USD", "EUR", "JPY"),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map((pairs) =>
      pairs.flatMap(({ debit, credit, amount: value, currency }) => {
        const foreign = { transactionCurrency: currency, transactionAmount: String(value) };
        return [
          { glAccountCode: debit, functionalAmount: String(value), ...foreign },
          { glAccountCode: credit, functionalAmount: String(-value) },
        ];
      }),
    ),
});

async function post(ledgerId: string, entries: readonly unknown[]): Promise<void> {
  const reply = await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  expect(reply.status).toBe(201);
}

async function readAll(ledgerId: string): Promise<readonly ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for (;;) {
    const page = await readPage(ledgerId, `offset=${entries.length}&limit=100`);
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
  }
}

async function readPage(ledgerId: string, query: string): Promise<ReadPage> {
  const reply = await service.get(`${entriesPath(ledgerId)}?${query}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as ReadPage;
}

/** Sums whole spans of so many entries. */
async function sum(spanEntries: number): Promise<void> {
  const sums = new DaySums(pool, {
    intervalMs: 1,
    spanEntries,
    onFailure: (error) => {
      throw error;
    },
  });
  await sums.sumAll();
}

interface Filter {
  readonly from: string | null;
  readonly to: string | null;
  readonly glAccountCode: string | null;
}

function passes(
  { from, to, glAccountCode }: Filter,
  { transactionDate, lines }: ReadEntry,
): boolean {
  return (
    (from === null || transactionDate >= from) &&
    (to === null || transactionDate < to) &&
    (glAccountCode === null || lines.some((line) => line["glAccountCode"] === glAccountCode))
  );
}

function trialBalanceOf(
  entries: readonly ReadEntry[],
  from: string | null,
  to: string,
): BalanceRow[] {
  const balance = new TrialBalance();
  for (const { transactionDate, lines } of entries) {
    const summed = lines.map((line) => ({
      glAccountCode: String(line["glAccountCode"]),
      functionalAmount: BigInt(String(line["functionalAmount"])),
    }));
    if (transactionDate >= to) continue;
    if (from === null || transactionDate >= from) balance.addEntry(summed);
    else balance.addOpening(summed);
  }
  return balance.rows();
}

/** Rows as they travel. */
const wire = (rows: readonly BalanceRow[]) =>
  rows.map((row) => ({
    ...row,
    opening: String(row.opening),
    debits: String(row.debits),
    credits: String(row.credits),
    closing: String(row.closing),
  }));

const aFilter = fc.record({
  from: fc.option(time),
  to: fc.option(time),
  glAccountCode: fc.option(fc.constantFrom(...codes, "5000")),
});
const aPage = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  start: fc.oneof(
    fc.record({ offset: fc.integer({ min: 0, max: 320 }) }),
    fc.record({ after: fc.integer({ min: 0, max: 320 }) }),
  ),
});

describe.each([
  ["nothing is summed", []],
  ["spans of 16 entries", [16]],
  ["spans of several lengths", [100, 7, 64]],
  ["spans of one entry", [1]],
])("with %s", (_, spans) => {
  let ledgerId: string;
  let entries: readonly ReadEntry[];

  beforeAll(async () => {
    ledgerId = await service.books.createLedger();
    const generated = fc.sample(anEntry, { numRuns: 310, seed: 14 });
    const first = 300 - spans.length * 60;
    await post(ledgerId, generated.slice(0, first));
    for (const [index, span] of spans.entries()) {
      await sum(span);
      await post(ledgerId, generated.slice(first + index * 60, first + (index + 1) * 60));
    }
    await post(ledgerId, generated.slice(300));
    entries = await readAll(ledgerId);
    expect(entries).toHaveLength(310);
    expect((await readSummedSequence(pool, ledgerId)) > 0).toBe(spans.length > 0);
  });

  test("any page of any filtered list has its entries, and the total", async () => {
    const property = fc.asyncProperty(aFilter, aPage, async (filter, { limit, start }) => {
      const query = new URLSearchParams({ limit: String(limit) });
      for (const [name, value] of Object.entries({ ...filter, ...start })) {
        if (value !== null) query.set(name, String(value));
      }
      const page = await readPage(ledgerId, query.toString());
      const found = entries.filter((each) => passes(filter, each));
      const { offset = 0, after = 0 } = start as { offset?: number; after?: number };
      const rest = found.filter(({ sequence }) => sequence > after).slice(offset);
      expect(page.entries).toEqual(rest.slice(0, limit));
      expect({ total: page.total, hasMore: page.hasMore }).toEqual({
        total: found.length,
        hasMore: rest.length > limit,
      });
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test("the trial balance of any period is that of the entries", async () => {
    const property = fc.asyncProperty(time, time, async (one, other) => {
      fc.pre(one !== other);
      const [from, to] = [one, other].sort() as [string, string];
      const period = { startsAt: from as Timestamp, endsAt: to as Timestamp, close: null };
      const { rows } = await readTrialBalance(pool, ledgerId, period);
      expect(rows).toEqual(trialBalanceOf(entries, from, to));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("a preview and a close have the figures of the entries, and the audit finds nothing", async () => {
    const [startsAt, endsAt] = ["2026-01-01T11:30:00.000Z", "2026-01-03T00:00:00.001Z"];
    const bounds = `periodId=cut&startsAt=${startsAt}&endsAt=${endsAt}`;
    const reply = await service.get(`/v1/ledgers/${ledgerId}/period-closes/preview?${bounds}`);
    expect(reply.status, reply.text).toBe(200);
    const preview = reply.body as ClosePreview;
    const rows = wire(trialBalanceOf(entries, startsAt, endsAt));
    const within = entries.filter((each) =>
      passes({ from: startsAt, to: endsAt, glAccountCode: null }, each),
    );
    expect(preview.entryCount).toBe(within.length);
    const months = new Map<string, number>();
    for (const { transactionDate } of entries) {
      if (transactionDate >= startsAt) continue;
      const month = transactionDate.slice(0, 7);
      months.set(month, (months.get(month) ?? 0) + 1);
    }
    expect(
      Object.fromEntries(
        preview.earlierOpen.map(({ periodId, entryCount }) => [periodId, entryCount]),
      ),
    ).toEqual(Object.fromEntries(months));
    const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
      periodId: "cut",
      startsAt,
      endsAt,
    });
    expect(closed.status, closed.text).toBe(201);
    const { closeId } = closed.body as { closeId: string };
    const shown = await service.get(`/v1/ledgers/${ledgerId}/period-closes/${closeId}`);
    const { balances } = shown.body as { balances: readonly object[] };
    expect(balances).toEqual(rows);
    const report = await pool.snapshot((snapshot) => auditLedgers(snapshot, ledgerId));
    expect(report?.checks.filter(({ ok }) => !ok)).toEqual([]);
  });
});

test("a close does not rest on sums by day", async () => {
  const ledgerId = await service.books.createLedger();
  await post(ledgerId, fc.sample(anEntry, { numRuns: 60, seed: 3 }));
  await sum(20);
  const entries = await readAll(ledgerId);
  const { databaseUrl } = service.books;
  await forge(
    { databaseUrl },
    `UPDATE account_days SET day = day - 31 WHERE ledger_id = '${ledgerId}' AND day = '2026-01-01'`,
    `UPDATE account_days SET functional_debits = functional_debits + 1 WHERE ledger_id = '${ledgerId}'`,
  );
  const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
    periodId: "2026-01",
  });
  const { closeId } = closed.body as { closeId: string };
  const shown = await service.get(`/v1/ledgers/${ledgerId}/period-closes/${closeId}`);
  const [startsAt, endsAt] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
  const rows = wire(trialBalanceOf(entries, startsAt, endsAt));
  expect((shown.body as { balances: unknown }).balances).toEqual(rows);
});

test("sums that go further than the journal are found by the audit, and not used", async () => {
  const ledgerId = await service.books.createLedger();
  await post(ledgerId, fc.sample(anEntry, { numRuns: 20, seed: 9 }));
  await sum(10);
  const { databaseUrl } = service.books;
  await forge(
    { databaseUrl },
    `UPDATE summed_journals SET last_sequence = 25 WHERE ledger_id = '${ledgerId}'`,
  );
  const report = await pool.snapshot((snapshot) => auditLedgers(snapshot, ledgerId));
  expect(report?.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["day-sums"]);
  await post(ledgerId, fc.sample(anEntry, { numRuns: 4, seed: 10 }));
  const { total } = await readPage(ledgerId, "from=0001-01-01T00:00:00Z");
  expect(total).toBe(24);
});

test("several servers sum each span once", async () => {
  const ledgerId = await service.books.createLedger();
  await post(ledgerId, fc.sample(anEntry, { numRuns: 300, seed: 5 }));
  await Promise.all(Array.from({ length: 4 }, () => sum(10)));
  // One that finds them locked, if only by another's months, leaves the rest to the next round.
  await sum(10);
  expect(await readSummedSequence(pool, ledgerId)).toBe(300);
  const report = await pool.snapshot((snapshot) => auditLedgers(snapshot, ledgerId));
  expect(report?.checks.filter(({ ok }) => !ok)).toEqual([]);
});

// Books made at random, for tests that compare what is read of them with the entries themselves.
import fc from "fast-check";
import { expect } from "vitest";
import { DaySums } from "../../src/engine/day-sums.ts";
import type { Pool } from "../../src/store/database/pool.ts";
import type { ChartRow } from "../../src/engine/accounts.ts";
import { entriesPath, type ReadEntry, type ReadPage } from "./entries.ts";
import type { TestService } from "./service.ts";

/** Accounts of every type, one without, and one whose code has to be encoded in a path. */
export const randomChart = [
  ["1000", "asset"],
  ["1:1/0 ä", "asset"],
  ["2000", "liability"],
  ["3000", "equity"],
  ["4000", "income"],
  ["5000", "expense"],
  ["9999", null],
].map(([glAccountCode, type]) => ({
  glAccountCode,
  name: `Account ${String(glAccountCode)}`,
  type,
  active: true,
})) as readonly ChartRow[];

export const randomCodes = randomChart.map(({ glAccountCode }) => glAccountCode);

/** Midnights and the milliseconds around them, the middle of days, and the ends of the calendar. */
export const randomTimes = [
  ...["2025-12-31", "2026-01-01", "2026-01-02", "2026-01-03", "2026-02-01", "2026-04-30"].flatMap(
    (day) => [
      `${day}T00:00:00.000Z`,
      `${day}T00:00:00.001Z`,
      `${day}T11:30:00.000Z`,
      `${day}T23:59:59.999Z`,
    ],
  ),
  "0001-01-01T00:00:00.000Z",
  "1969-12-31T23:59:59.999Z",
  "9999-12-31T12:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
];
export const aTime = fc.constantFrom(...randomTimes);

const amount = fc.oneof(fc.bigInt({ min: 1n, max: 99n }), fc.constant(10n ** 37n));
const aText = fc.constantFrom(null, "Rent", "ÄRGER 50%", "a_b\\c", 'say "Hi"', "rent\tpaid");

/** Lines in pairs, which may be of one account, some in another currency. */
export const anEntry = fc.record({
  transactionDate: aTime,
  entryType: fc.constantFrom("STANDARD", "STANDARD", "CLOSING", "ADJUSTING"),
  description: aText,
  metadata: fc.constantFrom(
    {},
    { rent: 1 },
    { a: ["Ärger", { b: 4711 }] },
    { c: "x\ty" },
    { d: null },
  ),
  lines: fc
    .array(
      fc.record({
        debit: fc.constantFrom(...randomCodes),
        credit: fc.constantFrom(...randomCodes),
        amount,
        currency: fc.constantFrom("USD", "EUR", "JPY"),
        description: aText,
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map((pairs) =>
      pairs.flatMap(({ debit, credit, amount: value, currency, description }) => {
        const foreign = { transactionCurrency: currency, transactionAmount: String(value) };
        return [
          { glAccountCode: debit, functionalAmount: String(value), description, ...foreign },
          { glAccountCode: credit, functionalAmount: String(-value) },
        ];
      }),
    ),
});

/** So many entries, each with an externalId of its own. */
export function sampleEntries(count: number, seed: number): readonly object[] {
  return fc
    .sample(anEntry, { numRuns: count, seed })
    .map((entry, index) => ({ ...entry, externalId: `Entry ${seed}-${index}` }));
}

/** Posts entries; they have to be accepted. */
export async function postAll(
  service: TestService,
  ledgerId: string,
  entries: readonly unknown[],
): Promise<void> {
  const reply = await service.post(`${entriesPath(ledgerId)}/bulk`, { entries, atomic: true });
  expect(reply.status, reply.text).toBe(201);
}

/** All entries of a ledger, by sequence. */
export async function readAll(
  service: TestService,
  ledgerId: string,
): Promise<readonly ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for (;;) {
    const query = `after=${entries.length}&limit=100`;
    const reply = await service.get(`${entriesPath(ledgerId)}?${query}`);
    expect(reply.status, reply.text).toBe(200);
    const page = reply.body as ReadPage;
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
  }
}

/** Sums whole spans of so many entries, in all ledgers. */
export async function sumSpans(pool: Pool, spanEntries: number): Promise<void> {
  const sums = new DaySums(pool, {
    intervalMs: 1,
    spanEntries,
    onFailure: (error) => {
      throw error;
    },
  });
  await sums.sumAll();
}

/** A query string of what is not null. */
export function queryOf(
  parameters: Readonly<Record<string, string | number | bigint | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

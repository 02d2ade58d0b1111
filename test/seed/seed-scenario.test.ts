// The scenario of a seed, without a database: as much as was asked for, the same each time, and by the books' rules.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rootOf } from "../../src/core/merkle.ts";
import { entryLeaf } from "../../src/core/canonical.ts";
import { readPeriodLabel } from "../../src/core/period.ts";
import type { SeedPeriod, SeedSettings } from "../../src/seed/seed-schedule.ts";
import { SeedScenario, type SeedEvent } from "../../src/seed/seed-scenario.ts";

function period(periodId: string): SeedPeriod {
  return { periodId, ...(readPeriodLabel(periodId) as Omit<SeedPeriod, "periodId">) };
}

const settings = (more: Partial<SeedSettings> = {}): SeedSettings => ({
  ...{ seed: 1, entries: 300, wallets: 6, writes: 90 },
  ...{ transfers: 0, frozen: 0, limits: false },
  periods: [period("2026-01"), period("2026-02")],
  ...more,
});

const eventsOf = (given: SeedSettings): SeedEvent[] => [...new SeedScenario(given).events()];

const entriesOf = (events: readonly SeedEvent[]) =>
  events.flatMap((event) => (event.kind === "entry" ? [event.entry] : []));

const writeCount = (events: readonly SeedEvent[]) =>
  events.reduce(
    (count, event) => count + (event.kind === "walletBatch" ? event.batch.writes.length : 0),
    0,
  );

describe("a seed's scenario", () => {
  it("has exactly as many entries, wallets and writes as were asked for, whatever they are", () => {
    const numbers = fc.record({
      seed: fc.nat(),
      entries: fc.integer({ min: 1, max: 400 }),
      wallets: fc.integer({ min: 0, max: 40 }),
      more: fc.integer({ min: 0, max: 200 }),
      labels: fc.constantFrom(
        ["2026-01"],
        ["2026-03-07", "2026-W20"],
        ["2025", "2026-Q1", "2026-05"],
      ),
    });
    fc.assert(
      fc.property(numbers, ({ seed, entries, wallets, more, labels }) => {
        const writes = wallets === 0 ? 0 : wallets + more;
        const counts = { seed, entries, wallets, writes };
        const scenario = new SeedScenario(settings({ ...counts, periods: labels.map(period) }));
        const events = [...scenario.events()];
        expect(entriesOf(events)).toHaveLength(entries);
        expect(writeCount(events)).toBe(writes);
        expect(scenario.walletStates().wallets).toHaveLength(wallets);
        const closes = events.filter(({ kind }) => kind === "close");
        expect(closes).toHaveLength(labels.length);
      }),
      { numRuns: 40 },
    );
  });

  it("is the same from the same seed, and another from another", () => {
    const scenario = eventsOf(settings());
    expect(eventsOf(settings())).toEqual(scenario);
    expect(eventsOf(settings({ seed: 2 }))).not.toEqual(scenario);
  });

  it("ends with as many transfers and frozen wallets as were asked for, after all that is without them", () => {
    const numbers = fc.record({
      seed: fc.nat(),
      wallets: fc.integer({ min: 4, max: 30 }),
      transfers: fc.integer({ min: 0, max: 1_500 }),
    });
    fc.assert(
      fc.property(numbers, ({ seed, wallets, transfers }) => {
        const counts = { seed, wallets, writes: wallets * 5, entries: 60 };
        const without = eventsOf(settings(counts));
        const scenario = new SeedScenario(
          settings({ ...counts, transfers, frozen: 3, limits: true }),
        );
        const events = [...scenario.events()];
        expect(events.slice(0, without.length)).toEqual(without);
        const added = events.slice(without.length);
        const rows = added.flatMap((event) =>
          event.kind === "walletBatch" ? event.batch.writes : [],
        );
        const ofType = (wanted: string) => rows.filter(({ type }) => type === wanted).length;
        expect([ofType("transfer-out"), ofType("transfer-in"), ofType("freeze")]).toEqual([
          transfers,
          transfers,
          3,
        ]);
        const { wallets: ended } = scenario.walletStates();
        expect(ended.filter(({ frozenAt }) => frozenAt !== null)).toHaveLength(3);
        expect(added.at(-1)).toMatchObject({ kind: "rules" });
      }),
      { numRuns: 20 },
    );
  });

  it("puts each period's entries, and no others, under its root", () => {
    const events = eventsOf(settings());
    const roots = ["2026-01", "2026-02"].map((month) =>
      rootOf(
        entriesOf(events)
          .filter(({ transactionDate }) => transactionDate.startsWith(month))
          .map(entryLeaf),
      ).toString("hex"),
    );
    const closes = events.flatMap((event) => (event.kind === "close" ? [event.record] : []));
    expect(closes.map(({ merkleRoot }) => merkleRoot)).toEqual(roots);
    expect(closes[1]?.previousCloseHash).toBe(closes[0]?.closeHash);
  });

  it("is of a business: invoices, payments, payroll, exchange, reversals, wallets", () => {
    const entries = entriesOf(eventsOf(settings({ entries: 2_000 })));
    const kinds = new Set(entries.map(({ eventType, entryType }) => eventType ?? entryType));
    expect([...kinds].sort()).toEqual(
      [
        ...["BILL", "BILL_PAYMENT", "CAPITAL", "DEPRECIATION", "FEE", "INVOICE", "PAYMENT"],
        ...["PAYROLL", "RENT", "REVALUATION", "REVERSAL", "WALLET_BATCH"],
      ].sort(),
    );
    const currencies = entries.flatMap(({ lines }) =>
      lines.map(({ transactionCurrency }) => transactionCurrency),
    );
    expect(new Set(currencies)).toEqual(new Set(["USD", "EUR", "GBP", "JPY", "KWD", "POINTS"]));
    const externalIds = entries.flatMap(({ externalId }) => externalId ?? []);
    expect(new Set(externalIds).size).toBe(externalIds.length);
  });

  it("is persisted in order, each close behind all that it covers", () => {
    const events = eventsOf(settings());
    const times = events.flatMap((event) => {
      if (event.kind === "entry") return [event.entry.persistedAt];
      return event.kind === "close" ? [event.record.closedAt] : [];
    });
    expect(times).toEqual([...times].sort());
  });
});

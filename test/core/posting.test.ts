// Which pending sides make which entries: days, rules, rounding. The oracle of the amounts is the exact
// fraction of what was posted so far.
import fc from "fast-check";
import { ClosedCalendar } from "../../src/core/period.ts";
import { describe, expect, test } from "vitest";
import { defaultAssetRule, type AssetRule } from "../../src/core/asset.ts";
import {
  planPostings,
  type PendingPosting,
  type Posting,
  type PostingSnapshot,
  type PostingTotal,
} from "../../src/core/posting.ts";
import type { Timestamp } from "../../src/core/time.ts";

const ledger = { ledgerId: "l", organizationId: "o", functionalCurrency: "USD" };
let made = 0;

function side(more: Partial<PendingPosting> & { at?: string } = {}): PendingPosting {
  made += 1;
  const at = (more.at ?? "2026-03-01T12:00:00.000Z") as Timestamp;
  return {
    pendingPostingId: `b${made}`,
    assetCode: "USD",
    ruleVersion: 1,
    side: "credit",
    amount: 100n,
    writeCount: 1,
    acceptedFrom: at,
    acceptedTo: at,
    walletIds: ["w"],
    ...more,
  };
}

function rule(assetCode: string, more: Partial<AssetRule> = {}): AssetRule {
  return { ...defaultAssetRule(assetCode, "USD"), ...more };
}

const open = new ClosedCalendar([]);

function plan(pending: PendingPosting[], more: Partial<PostingSnapshot> = {}): Posting[] {
  return planPostings({ ledger, pending, rules: [rule("USD")], totals: [], closed: open, ...more });
}

const amounts = (posting: Posting | undefined) =>
  (posting?.lines ?? []).map(({ glAccountCode, functionalAmount }) => [
    glAccountCode,
    functionalAmount,
  ]);

describe("the day of a posting", () => {
  test("ends at midnight UTC: what was accepted on two days makes two entries", () => {
    const before = side({ at: "2026-02-28T23:59:59.999Z", amount: 1n });
    const after = side({ at: "2026-03-01T00:00:00.000Z", amount: 2n });
    const postings = plan([after, before]);
    expect(postings.map(({ pendingPostingIds }) => pendingPostingIds)).toEqual([
      [before.pendingPostingId],
      [after.pendingPostingId],
    ]);
    expect(postings.map(({ transactionDate }) => transactionDate)).toEqual([
      "2026-02-28T23:59:59.999Z",
      "2026-03-01T00:00:00.000Z",
    ]);
  });

  test("holds all of it from the first millisecond to the last, dated with the latest", () => {
    const sides = ["00:00:00.000", "23:59:59.999", "12:00:00.000"].map((time) =>
      side({ at: `2026-03-01T${time}Z` }),
    );
    const [posting, ...others] = plan(sides);
    expect(others).toEqual([]);
    expect(posting?.transactionDate).toBe("2026-03-01T23:59:59.999Z");
    expect(posting?.metadata).toEqual({
      acceptedFrom: "2026-03-01T00:00:00.000Z",
      acceptedTo: "2026-03-01T23:59:59.999Z",
      writes: 3,
      wallets: 1,
    });
  });
});

describe("the lines of a posting", () => {
  test("are gross: credits Dr clearing Cr wallets, debits the reverse", () => {
    const [posting] = plan([side({ amount: 7n }), side({ side: "debit", amount: 3n })]);
    expect(amounts(posting)).toEqual([
      ["wallets-clearing:USD", 7n],
      ["wallets:USD", -7n],
      ["wallets:USD", 3n],
      ["wallets-clearing:USD", -3n],
    ]);
  });

  test("count wallets and writes once each", () => {
    const sides = [
      side({ walletIds: ["a", "b"], writeCount: 5 }),
      side({ walletIds: ["b", "c"], writeCount: 2, side: "debit" }),
    ];
    expect(plan(sides)[0]?.metadata).toMatchObject({ writes: 7, wallets: 3 });
  });

  test("are those of one asset and one rule", () => {
    const rules = [rule("USD"), rule("x"), rule("x", { version: 2, rate: "3" })];
    const postings = plan(
      [side(), side({ assetCode: "x" }), side({ assetCode: "x", ruleVersion: 2 })],
      { rules },
    );
    expect(postings.map(({ assetCode, ruleVersion }) => [assetCode, ruleVersion])).toEqual([
      ["USD", 1],
      ["x", 1],
      ["x", 2],
    ]);
    expect(amounts(postings[2])).toEqual([
      ["wallets-clearing:x", 300n],
      ["wallets:x", -300n],
    ]);
  });
});

describe("a currency that waits for a rate", () => {
  const waiting = rule("EUR");

  test("is left out", () => {
    expect(plan([side({ assetCode: "EUR" })], { rules: [waiting] })).toEqual([]);
    expect(plan([side({ assetCode: "EUR" })], { rules: [] })).toEqual([]);
  });

  test("is posted under its first rate, not its latest", () => {
    const rules = [
      rule("EUR", { version: 4, rate: "9" }),
      rule("EUR", { version: 3, rate: "2" }),
      rule("EUR", { version: 2, overdraftLimit: 5n }),
      waiting,
    ];
    const [posting] = plan([side({ assetCode: "EUR", amount: 10n })], { rules });
    expect(posting?.ruleVersion).toBe(3);
    expect(amounts(posting)[0]).toEqual(["wallets-clearing:EUR", 20n]);
  });

  test("is not posted under a rate from before the writes", () => {
    const rules = [rule("EUR", { rate: "2" }), rule("EUR", { version: 2, rate: null })];
    expect(plan([side({ assetCode: "EUR", ruleVersion: 2 })], { rules })).toEqual([]);
  });
});

describe("rounding", () => {
  test("leaves a side that gives nothing pending whole, and posts the other", () => {
    const rules = [rule("x", { rate: "0.1" })];
    const small = side({ assetCode: "x", amount: 5n, side: "debit" });
    const large = side({ assetCode: "x", amount: 50n });
    const [posting] = plan([small, large], { rules });
    expect(posting?.pendingPostingIds).toEqual([large.pendingPostingId]);
    expect(posting?.totals.map((total) => total.side)).toEqual(["credit"]);
    expect(plan([small], { rules })).toEqual([]);
  });

  test("never drifts: after any number of postings the total is that of the sum", () => {
    const rate = fc.record({
      whole: fc.integer({ min: 0, max: 20 }),
      decimals: fc.integer({ min: 1, max: 9_999 }),
    });
    const steps = fc.array(
      fc.record({
        side: fc.constantFrom("credit" as const, "debit" as const),
        amount: fc.bigInt({ min: 1n, max: 10n ** 12n }),
        day: fc.integer({ min: 1, max: 3 }),
        posts: fc.boolean(),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(rate, steps, ({ whole, decimals }, list) => {
        const text = `${whole}.${String(decimals).padStart(4, "0")}`;
        const rules = [rule("x", { rate: text })];
        const numerator = BigInt(whole) * 10_000n + BigInt(decimals);
        let pending: PendingPosting[] = [];
        let totals: readonly PostingTotal[] = [];
        const posted = { credit: 0n, debit: 0n };
        const booked = new Map<string, bigint>();
        for (const { posts, day, ...more } of list) {
          const at = `2026-03-0${day}T00:00:00.000Z`;
          pending.push(side({ assetCode: "x", at, ...more }));
          if (!posts) continue;
          const postings = plan(pending, { rules, totals });
          for (const posting of postings) {
            expect(posting.lines.reduce((sum, line) => sum + line.functionalAmount, 0n)).toBe(0n);
            for (const line of posting.lines) {
              expect(line.functionalAmount).not.toBe(0n);
              const before = booked.get(line.glAccountCode) ?? 0n;
              booked.set(line.glAccountCode, before + line.functionalAmount);
            }
            const merged = new Map([...totals, ...posting.totals].map((one) => [one.side, one]));
            totals = [...merged.values()];
          }
          const settled = new Set(postings.flatMap(({ pendingPostingIds }) => pendingPostingIds));
          for (const one of pending)
            if (settled.has(one.pendingPostingId)) posted[one.side] += one.amount;
          pending = pending.filter(({ pendingPostingId }) => !settled.has(pendingPostingId));
        }
        const exact = (amount: bigint) => {
          const down = (amount * numerator) / 10_000n;
          const rest = (amount * numerator) % 10_000n;
          return down + (rest > 5_000n || (rest === 5_000n && down % 2n === 1n) ? 1n : 0n);
        };
        const expected = exact(posted.debit) - exact(posted.credit);
        expect(booked.get("wallets:x") ?? 0n).toBe(expected);
        expect(booked.get("wallets-clearing:x") ?? 0n).toBe(-expected);
      }),
    );
  });
});

// Lines and their amounts, reversed lines, changes of balances.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  balanceChanges,
  findAmountFaults,
  reverseLines,
  type Entry,
  type Line,
  type LineAmounts,
} from "../../src/core/journal.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { entryDraft, line } from "../support/entry-drafts.ts";

function partial(functionalAmount: bigint, more: Partial<LineAmounts> = {}): LineAmounts {
  return {
    functionalAmount,
    functionalCurrency: "USD",
    transactionAmount: null,
    transactionCurrency: "USD",
    ...more,
  };
}

function entryOf(lines: readonly Line[], sequence = 1): Entry {
  const time = "2026-01-01T00:00:00.000Z" as Timestamp;
  return {
    ledgerId: "0190b6a0-0000-7000-8000-000000000001",
    journalId: `0190b6a0-0000-7000-8000-${String(sequence).padStart(12, "0")}`,
    sequence,
    ...entryDraft(lines),
    transactionDate: time,
    persistedAt: time,
    postingStatus: "POSTED",
    reversesJournalId: null,
  };
}

describe("amounts of lines", () => {
  test("are fine when they sum to zero, past 38 digits too", () => {
    const most = 10n ** 38n - 1n;
    const lines = [partial(most), partial(most), partial(-most), partial(-most)];
    expect(findAmountFaults(lines)).toEqual([]);
  });

  test("are at fault when their exact sum is not zero", () => {
    const most = 10n ** 38n - 1n;
    const [fault] = findAmountFaults([partial(most), partial(most), partial(-most)]);
    expect(fault).toMatchObject({ path: ["lines"] });
    expect(fault?.detail).toContain(most.toString());
  });

  test("have no known sum while one of them is unreadable", () => {
    const unread = { ...partial(1n), functionalAmount: undefined };
    expect(findAmountFaults([partial(5n), unread])).toEqual([]);
  });

  test.each([
    ["equal amounts of one currency", 7n, "USD", null],
    ["unequal amounts of one currency", 8n, "USD", "must equal functionalAmount"],
    ["zero of one currency", 0n, "USD", "must equal functionalAmount"],
    ["another amount of another currency", 800n, "EUR", null],
    ["zero of another currency, a revaluation", 0n, "EUR", null],
    ["the other sign", -7n, "EUR", "must have the same sign"],
    ["nothing said of another currency", null, "EUR", "is required"],
  ])("say of the transaction amount: %s", (_, transactionAmount, transactionCurrency, detail) => {
    const faults = findAmountFaults([
      partial(7n, { transactionAmount, transactionCurrency }),
      partial(-7n),
    ]);
    if (detail === null) expect(faults).toEqual([]);
    else {
      expect(faults).toMatchObject([{ path: ["lines", 0, "transactionAmount"] }]);
      expect(faults[0]?.detail).toContain(detail);
    }
  });
});

describe("reversing lines", () => {
  test("negates every amount, keeps all else, and twice is nothing", () => {
    const lines = [
      line("1000", 5n, {
        transactionAmount: 3n,
        transactionCurrency: "EUR",
        spotRate: 1.5,
        description: "paid",
      }),
      line("4000", -5n, { transactionAmount: 0n, transactionCurrency: "EUR" }),
    ];
    const reversed = reverseLines(lines);
    expect(reversed[0]).toEqual({ ...lines[0], transactionAmount: -3n, functionalAmount: -5n });
    expect(reversed[1]).toEqual({ ...lines[1], functionalAmount: 5n });
    expect(reverseLines(reversed)).toEqual(lines);
  });
});

describe("changes of balances", () => {
  test("count entries, not lines", () => {
    const changes = balanceChanges([
      entryOf([line("1000", 5n), line("1000", 7n), line("4000", -12n)], 1),
      entryOf([line("1000", 1n), line("4000", -1n)], 2),
    ]);
    expect(changes).toEqual([
      { glAccountCode: "1000", currency: null, amount: 13n, entryCount: 2 },
      { glAccountCode: "1000", currency: "USD", amount: 13n, entryCount: 2 },
      { glAccountCode: "4000", currency: null, amount: -13n, entryCount: 2 },
      { glAccountCode: "4000", currency: "USD", amount: -13n, entryCount: 2 },
    ]);
  });

  test("agree with sums taken line by line", () => {
    const code = fc.constantFrom("1000", "10", "00", "1000USD");
    const currency = fc.constantFrom("USD", "EUR", "0", "1000");
    const lines = fc.array(
      fc.record({ code, currency, amount: fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }) }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 6 }), (drafts) => {
        const entries = drafts.map((draft, index) =>
          entryOf(
            draft.map((part) =>
              line(part.code, part.amount, {
                transactionCurrency: part.currency,
                transactionAmount: part.amount * 2n,
              }),
            ),
            index + 1,
          ),
        );
        for (const change of balanceChanges(entries)) {
          const isOf = (part: Line) =>
            part.glAccountCode === change.glAccountCode &&
            (change.currency === null || part.transactionCurrency === change.currency);
          const parts = entries.flatMap((each) => each.lines.filter(isOf));
          const sum = parts.reduce(
            (total, part) =>
              total + (change.currency === null ? part.functionalAmount : part.transactionAmount),
            0n,
          );
          expect(change.amount).toBe(sum);
          expect(change.entryCount).toBe(entries.filter((each) => each.lines.some(isOf)).length);
        }
        const keys = balanceChanges(entries).map((change) =>
          JSON.stringify([change.glAccountCode, change.currency]),
        );
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  test("come in one order, whatever order the entries have", () => {
    const entries = [
      entryOf([line("4000", 1n), line("1000", -1n, { transactionCurrency: "EUR" })], 1),
      entryOf([line("1000", 1n), line("4000", -1n, { transactionCurrency: "CHF" })], 2),
    ];
    const keys = (list: readonly Entry[]) =>
      balanceChanges(list).map(({ glAccountCode, currency }) => [glAccountCode, currency]);
    expect(keys([...entries].reverse())).toEqual(keys(entries));
  });
});

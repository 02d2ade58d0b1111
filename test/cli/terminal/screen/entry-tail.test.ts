// The screen of `entry tail`: its state as entries and keys come, and what is drawn of a state.
import { renderToString } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../../../src/client/ledger-client.ts";
import {
  changeTail,
  emptyTail,
  entriesKept,
  shownEntries,
  tailRow,
  type TailState,
} from "../../../../src/cli/commands/entry/tail-state.ts";
import { entryRows, TailView } from "../../../../src/cli/commands/entry/tail-view.tsx";

const startMs = 1_700_000_000_000;

function entryOf(sequence: number, more: Partial<Entry> = {}): Entry {
  const line = (glAccountCode: string, amount: string) => ({
    ...{ glAccountCode, description: null, spotRate: null },
    ...{ transactionAmount: amount, transactionCurrency: "USD" },
    ...{ functionalAmount: amount, functionalCurrency: "USD" },
  });
  return {
    journalId: `0190b6a0-0000-7000-8000-${String(sequence).padStart(12, "0")}`,
    ledgerId: "0190b6a0-0000-7000-8000-000000000000",
    sequence,
    ...{ externalId: null, originSystem: null, originAccount: null, eventType: null },
    description: `Sale ${sequence}`,
    transactionDate: "2026-03-15T00:00:00.000Z",
    entryType: "STANDARD",
    postingStatus: "POSTED",
    metadata: {},
    persistedAt: "2026-03-15T09:30:00.000Z",
    ...{ reversesJournalId: null, reversedByJournalId: null },
    lines: [line("1000", "12500"), line("4000", "-12500")],
    ...more,
  };
}

function after(state: TailState, ...sequences: number[]): TailState {
  return sequences.reduce(
    (all, sequence, count) =>
      changeTail(all, { type: "entry", entry: entryOf(sequence) }, startMs + count * 100),
    state,
  );
}

function press(state: TailState, ...keys: string[]): TailState {
  return keys.reduce(
    (all, key) => changeTail(all, { type: "key", key, height: 3 }, startMs),
    state,
  );
}

const sequencesOf = (state: TailState) => shownEntries(state).map(({ sequence }) => sequence);
const chosenOf = (state: TailState) => shownEntries(state)[state.scroll.chosen]?.sequence;
const show = (amount: bigint) => `${amount} USD`;

describe("entries", () => {
  test("come newest first, and the newest is chosen", () => {
    const state = after(emptyTail, 1, 2, 3);
    expect(sequencesOf(state)).toEqual([3, 2, 1]);
    expect([state.count, chosenOf(state)]).toEqual([3, 3]);
  });

  test("leave the chosen one where somebody looks at an older one", () => {
    const state = press(after(emptyTail, 1, 2, 3), "down");
    expect(chosenOf(state)).toBe(2);
    expect(chosenOf(after(state, 4, 5))).toBe(2);
    expect(chosenOf(press(after(state, 4, 5), "g"))).toBe(5);
  });

  test("are kept up to a number, and all are counted", () => {
    const many = Array.from({ length: entriesKept + 20 }, (_, index) => index + 1);
    const state = after(emptyTail, ...many);
    expect(state.entries).toHaveLength(entriesKept);
    expect(state.count).toBe(entriesKept + 20);
    expect(sequencesOf(state)[0]).toBe(entriesKept + 20);
  });

  test("wait while the screen is paused", () => {
    const paused = after(press(after(emptyTail, 1), "p"), 2, 3);
    expect(sequencesOf(paused)).toEqual([1]);
    expect(sequencesOf(press(paused, "p"))).toEqual([3, 2, 1]);
  });
});

test("a row has the day, the sum of the debits, and what kind of entry it is", () => {
  expect(tailRow(entryOf(7), show)).toMatchObject({
    ...{ sequence: 7, date: "2026-03-15", amount: "12500 USD", text: "Sale 7" },
  });
  const posting = { description: null, eventType: "WALLET_BATCH" };
  expect(tailRow(entryOf(8, posting), show).text).toBe("WALLET_BATCH");
  expect(tailRow(entryOf(9, { entryType: "REVERSAL" }), show).text).toBe("[reversal] Sale 9");
  const date = { transactionDate: "2026-03-15T09:30:00.120Z" };
  expect(tailRow(entryOf(9, date), show).date).toBe("2026-03-15T09:30:00.120Z");
});

describe("the screen", () => {
  const draw = (state: TailState, columns: number, rows: number) =>
    renderToString(
      createElement(TailView, {
        ...{ state, nowMs: startMs + 1_000, size: { columns, rows }, show },
        ...{ name: "Books", isColored: false },
      }),
      { columns },
    ).split("\n");

  test("fits 80x24, 120x40 and 40x10, with the id where there is room", () => {
    const state = after(emptyTail, ...Array.from({ length: 60 }, (_, index) => index + 1));
    for (const [columns, rows] of [
      [80, 23],
      [120, 39],
      [40, 9],
    ] as const) {
      const lines = draw(state, columns, rows);
      expect(lines).toHaveLength(rows);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
      expect(lines[0]).toMatch(/^entry tail {2}Books {2}60 entries/);
      expect(lines[3]).toMatch(/^› Sale 60 .*60 .*12500 USD/);
      expect(lines.some((line) => line.includes("0190b6a0"))).toBe(columns === 120);
    }
  });

  test("shows the lines of the chosen entry, and that there are more", () => {
    const lines = Array.from({ length: 9 }, (_, index) => ({
      ...(entryOf(1).lines[0] as Entry["lines"][number]),
      glAccountCode: `code-${index}`,
    }));
    const state = changeTail(
      press(emptyTail, "d"),
      { type: "entry", entry: entryOf(1, { lines, externalId: "order-\u001b1" }) },
      startMs,
    );
    const text = draw(state, 100, 23).join("\n");
    expect(text).toContain("12500 USD  code-4");
    expect(text).toContain("and 4 more lines");
    expect(text).not.toContain("code-5");
    expect(text).not.toContain("\u001b");
    expect(entryRows(state, { columns: 100, rows: 23 })).toBe(10);
    expect(entryRows(state, { columns: 100, rows: 9 })).toBe(5);
  });

  test("says that it is paused, and that the connection is lost", () => {
    const lost = changeTail(emptyTail, { type: "stream", state: "lost" }, startMs);
    const [head] = draw(press(lost, "p"), 100, 23);
    expect(head).toContain("PAUSED, connection lost, reconnecting");
  });
});

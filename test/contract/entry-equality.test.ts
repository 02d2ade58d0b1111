// Whether an entry that was sent is the one that is stored.
import { describe, expect, test } from "vitest";
import { isSameEntry } from "../../src/contract/entry-equality.ts";
import type { Entry, EntryInput } from "../../src/contract/types.ts";

const stored: Entry = {
  journalId: "0190b6a0-1111-7000-8000-00000000000a",
  ledgerId: "0190b6a0-0000-7000-8000-000000000001",
  sequence: 1,
  externalId: "a",
  originSystem: null,
  originAccount: null,
  eventType: null,
  description: null,
  transactionDate: "2026-01-31T23:59:59.000Z",
  entryType: "STANDARD",
  postingStatus: "POSTED",
  metadata: { a: 1, b: [2] },
  persistedAt: "2026-02-01T00:00:00.123Z",
  reversesJournalId: null,
  reversedByJournalId: null,
  lines: [5, -5].map((amount, index) => ({
    glAccountCode: index === 0 ? "1000" : "4000",
    description: null,
    transactionAmount: String(amount),
    transactionCurrency: "USD",
    functionalAmount: String(amount),
    functionalCurrency: "USD",
    spotRate: null,
  })),
};

const sent: EntryInput = {
  externalId: "a",
  metadata: { b: [2], a: 1 },
  lines: [
    { glAccountCode: "1000", functionalAmount: "5" },
    { glAccountCode: "4000", functionalAmount: "-5" },
  ],
};

describe("an entry that is sent again", () => {
  test.each<[string, EntryInput]>([
    ["with the defaults left out", sent],
    ["with the defaults spelled out", { ...sent, entryType: "STANDARD", lines: stored.lines }],
    ["with nulls", { ...sent, description: null, transactionDate: null }],
    ["with the date in another offset", { ...sent, transactionDate: "2026-02-01T01:59:59+02:00" }],
  ])("is the stored one %s", (_, input) => {
    expect(isSameEntry(input, stored)).toBe(true);
  });

  test.each<[string, EntryInput]>([
    ["externalId", { ...sent, externalId: "b" }],
    ["description", { ...sent, description: "x" }],
    ["metadata", { ...sent, metadata: {} }],
    ["date", { ...sent, transactionDate: "2026-01-31T23:59:58Z" }],
    ["entryType", { ...sent, entryType: "CLOSING" }],
    ["order of lines", { ...sent, lines: [...sent.lines].reverse() }],
    ["number of lines", { ...sent, lines: sent.lines.slice(1) }],
    ["spot rate", { ...sent, lines: sent.lines.map((line) => ({ ...line, spotRate: 1.5 })) }],
  ])("is another one when its %s differs", (_, input) => {
    expect(isSameEntry(input, stored)).toBe(false);
  });
});

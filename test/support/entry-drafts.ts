// Entries as the engine takes them, already read.
import type { EntryDraft, Line } from "../../src/core/journal.ts";

/** A line in USD, of a ledger whose functional currency that is. */
export function line(glAccountCode: string, amount: bigint, more: Partial<Line> = {}): Line {
  return {
    glAccountCode,
    description: null,
    transactionAmount: amount,
    transactionCurrency: "USD",
    functionalAmount: amount,
    functionalCurrency: "USD",
    spotRate: null,
    ...more,
  };
}

/** An entry of today with nothing but lines. */
export function entryDraft(lines: readonly Line[]): EntryDraft {
  return {
    externalId: null,
    originSystem: null,
    originAccount: null,
    eventType: null,
    description: null,
    metadata: {},
    entryType: "STANDARD",
    transactionDate: null,
    lines,
  };
}

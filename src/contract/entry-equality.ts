// Whether an entry that was sent is the one that is stored: what distinguishes a retry from a conflict.
import { canonicalJson } from "../core/canonical.ts";
import type { JsonValue } from "../core/journal.ts";
import { parseTimestamp } from "../core/time.ts";
import type { Entry, EntryInput, EntryLineInput } from "./types.ts";

/**
 * Compares what a client sent with what the service stored, once the service's defaults are filled in.
 * A transactionDate that was left out was chosen by the service and says nothing.
 */
export function isSameEntry(sent: EntryInput, stored: Entry): boolean {
  const { transactionDate, lines } = stored;
  const functionalCurrency = lines[0]?.functionalCurrency ?? "";
  const sentDate = sent.transactionDate ?? null;
  return (
    canonicalJson({
      ...entryDocument(sent, functionalCurrency),
      transactionDate: sentDate === null ? transactionDate : parseTimestamp(sentDate),
    }) === canonicalJson({ ...entryDocument(stored, functionalCurrency), transactionDate })
  );
}

function entryDocument(entry: EntryInput | Entry, ledgerCurrency: string) {
  return {
    externalId: entry.externalId ?? null,
    originSystem: entry.originSystem ?? null,
    originAccount: entry.originAccount ?? null,
    eventType: entry.eventType ?? null,
    description: entry.description ?? null,
    entryType: entry.entryType ?? "STANDARD",
    metadata: entry.metadata ?? {},
    lines: entry.lines.map((line) => lineDocument(line, ledgerCurrency)),
  };
}

function lineDocument(line: EntryLineInput, ledgerCurrency: string): JsonValue {
  const functionalCurrency = line.functionalCurrency ?? ledgerCurrency;
  return {
    glAccountCode: line.glAccountCode,
    description: line.description ?? null,
    functionalAmount: line.functionalAmount,
    functionalCurrency,
    transactionAmount: line.transactionAmount ?? line.functionalAmount,
    transactionCurrency: line.transactionCurrency ?? functionalCurrency,
    spotRate: line.spotRate ?? null,
  };
}

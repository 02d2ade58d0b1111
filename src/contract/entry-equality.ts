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
  const functionalCurrency = stored.lines[0]?.functionalCurrency ?? "";
  const sentDate = sent.transactionDate ?? null;
  return (
    canonicalJson({
      externalId: sent.externalId ?? null,
      originSystem: sent.originSystem ?? null,
      originAccount: sent.originAccount ?? null,
      eventType: sent.eventType ?? null,
      description: sent.description ?? null,
      transactionDate: sentDate === null ? stored.transactionDate : parseTimestamp(sentDate),
      entryType: sent.entryType ?? "STANDARD",
      metadata: sent.metadata ?? {},
      lines: sent.lines.map((line) => lineDocument(line, functionalCurrency)),
    }) ===
    canonicalJson({
      externalId: stored.externalId,
      originSystem: stored.originSystem,
      originAccount: stored.originAccount,
      eventType: stored.eventType,
      description: stored.description,
      transactionDate: stored.transactionDate,
      entryType: stored.entryType,
      metadata: stored.metadata,
      lines: stored.lines.map((line) => lineDocument(line, functionalCurrency)),
    })
  );
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

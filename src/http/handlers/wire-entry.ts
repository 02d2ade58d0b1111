// Entries as they travel.
import type { StoredEntry } from "../../core/journal.ts";
import type { Entry, EntryDocument } from "../../contract/types.ts";

/** An entry as it is read. */
export function wireEntry(entry: StoredEntry): Entry {
  return { ...entryDocument(entry), reversedByJournalId: entry.reversedByJournalId };
}

/** What of an entry is hashed, as it travels. */
export function entryDocument(entry: StoredEntry): EntryDocument {
  const { reversedByJournalId, ...document } = entry;
  return {
    ...document,
    lines: entry.lines.map((line) => ({
      ...line,
      transactionAmount: line.transactionAmount.toString(),
      functionalAmount: line.functionalAmount.toString(),
    })),
  };
}

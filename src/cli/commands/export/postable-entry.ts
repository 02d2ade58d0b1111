// Stored entries in the form in which they can be posted again, into another ledger with the same accounts.
import type { Entry, EntryInput, EntryLineInput } from "../../../client/ledger-client.ts";

/** What a file of entries says about one; members that would be null are left out. */
export type PostableEntry = EntryInput & {
  readonly externalId: string;
  readonly lines: readonly EntryLineInput[];
};

/**
 * Everything that a client may send. An entry without an externalId has its journalId for one, which keeps its lines
 * together and makes posting the file again safe. Only the service makes reversals: one is written as an ordinary
 * entry with its amounts, whose metadata says what it reversed.
 */
export function postableEntry(entry: Entry): PostableEntry {
  const { transactionDate, externalId, journalId, entryType, reversesJournalId, metadata } = entry;
  const { eventType, originSystem, originAccount, description } = entry;
  const isReversal = reversesJournalId !== null;
  const said = isReversal ? { ...metadata, reversesJournalId } : metadata;
  return {
    externalId: externalId ?? journalId,
    transactionDate,
    ...withoutNulls({ eventType, originSystem, originAccount }),
    entryType: entryType === "REVERSAL" ? "STANDARD" : entryType,
    ...withoutNulls({ description }),
    ...(Object.keys(said).length === 0 ? {} : { metadata: said }),
    lines: entry.lines.map((line) => withoutNulls(line) as EntryLineInput),
  };
}

function withoutNulls<Members extends object>(members: Members): Partial<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null),
  ) as Partial<Members>;
}

// What became of an entry, or what kind it is, in a word.
import type { Entry } from "../../../client/ledger-client.ts";

type Reversible = Pick<Entry, "entryType" | "reversedByJournalId" | "reversesJournalId">;

/** `reversed`, or the type of an entry that is not STANDARD. */
export function stateOf({ entryType, reversedByJournalId }: Reversible): string {
  if (reversedByJournalId !== null) return "reversed";
  return entryType === "STANDARD" ? "" : entryType.toLowerCase();
}

/** The description; of a reversal with what it reverses. */
export function withReversed({
  description,
  reversesJournalId,
}: Reversible & Pick<Entry, "description">): string {
  if (reversesJournalId === null) return description ?? "";
  return description === null
    ? `reverses ${reversesJournalId}`
    : `${description} (reverses ${reversesJournalId})`;
}

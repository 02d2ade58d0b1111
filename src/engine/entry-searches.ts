// Lists of entries in other orders than the journal's, and searches in what entries say.
import { validationRefusal } from "../core/errors.ts";
import type { StoredEntry } from "../core/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import type { EntryFilter } from "../store/entry-lists.ts";
import {
  listEntriesBySequence,
  searchEntries,
  type EntryContentFilter,
  type SearchPage,
} from "../store/entry-searches.ts";
import { SummedJournal } from "./summed-journal.ts";

/** Entries that one search looks at: more would take seconds, and the database away from those who write. */
export const searchedEntriesMax = 250_000;

/**
 * A page of the entries that pass a filter, in some order, how many there are, and whether entries follow the page. Throws
 * `validation` where entries would be searched that are too many. `snapshot` is one.
 */
export async function searchJournal(
  snapshot: Connection,
  ledgerId: string,
  filter: EntryFilter & EntryContentFilter,
  page: SearchPage & { readonly bytesMax: number },
): Promise<{ entries: readonly StoredEntry[]; total: number; hasMore: boolean }> {
  const journal = await SummedJournal.read(snapshot, ledgerId);
  const { text, amountMin, amountMax, entryType } = filter;
  if ([text, amountMin, amountMax, entryType].some((value) => value !== null)) {
    refuseTooMany(filter, await journal.countEntries(filter));
  }
  const range = { afterSequence: 0, upToSequence: journal.lastSequence };
  const found = await searchEntries(snapshot, ledgerId, filter, page, range);
  const { total, following, sequences } = found;
  const entries = await listEntriesBySequence(snapshot, ledgerId, sequences, page.bytesMax);
  return { entries, total, hasMore: page.offset + entries.length < following };
}

function refuseTooMany(filter: EntryContentFilter, count: number): void {
  if (count <= searchedEntriesMax) return;
  const { text, amountMin, amountMax, entryType } = filter;
  const given = { text, entryType, amount: amountMin === amountMax ? amountMin : null };
  const narrowing = { ...given, minAmount: amountMin, maxAmount: amountMax };
  const [parameter = ""] = Object.entries(narrowing).find(([, value]) => value !== null) ?? [];
  const detail = `would search ${count} entries, and may search ${searchedEntriesMax}: narrow the dates by from and to or periodId, or name a glAccountCode`;
  throw validationRefusal([{ parameter, detail }]);
}

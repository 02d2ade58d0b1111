// Lists of entries in other orders than the journal's, and searches in what entries say.
import { validationRefusal } from "../core/errors.ts";
import type { StoredEntry } from "../core/journal.ts";
import { laterOf } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import type { EntryFilter } from "../store/entry-lists.ts";
import { listSequences, listSequencesByDate } from "../store/entry-orders.ts";
import {
  listEntriesBySequence,
  searchEntries,
  type EntryContentFilter,
  type SearchPage,
} from "../store/entry-searches.ts";
import { findRegisteredSequence } from "../store/register-days.ts";
import { endOfDay, startOfDay } from "../store/whole-days.ts";
import { SummedJournal } from "./summed-journal.ts";

/** Entries that one search looks at: more would take seconds, and the database away from those who write. */
export const searchedEntriesMax = 100_000;

/** What of a list is on a page: the sequences of its entries, of how many from the page on, of how many in all. */
interface FoundPage {
  readonly sequences: readonly number[];
  readonly following: number;
  readonly total: number;
}

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
  const found = await findPageOf(snapshot, ledgerId, journal, filter, page);
  const { bytesMax, offset } = page;
  const { sequences, following, total } = found;
  const entries = await listEntriesBySequence(snapshot, ledgerId, sequences, bytesMax);
  return { entries, total, hasMore: offset + entries.length < following };
}

async function findPageOf(
  snapshot: Connection,
  ledgerId: string,
  journal: SummedJournal,
  filter: EntryFilter & EntryContentFilter,
  page: SearchPage,
): Promise<FoundPage> {
  const isContent = isContentSearch(filter);
  if (isContent) refuseTooMany(filter, await journal.countEntries(filter));
  if (isContent || filter.externalId !== null) {
    const whole = { afterSequence: 0, upToSequence: journal.lastSequence };
    return searchEntries(snapshot, ledgerId, filter, page, whole);
  }
  return page.order === "date"
    ? findByDate(snapshot, ledgerId, journal, filter, page)
    : findLatest(snapshot, ledgerId, journal, filter, page);
}

/** Whether entries have to be looked into. */
export function isContentSearch(filter: EntryContentFilter): boolean {
  const { text, amountMin, amountMax, entryType } = filter;
  return [text, amountMin, amountMax, entryType].some((value) => value !== null);
}

/** By date: the days on which the page is are found by how many entries each day has. */
async function findByDate(
  snapshot: Connection,
  ledgerId: string,
  journal: SummedJournal,
  filter: EntryFilter,
  { direction, offset, limit }: SearchPage,
): Promise<FoundPage> {
  const days = await journal.countByDay(filter);
  const sign = direction === "asc" ? 1 : -1;
  days.sort((one, other) => (one.day < other.day ? -sign : sign));
  let skipped = 0;
  let through = 0;
  const onPage: string[] = [];
  for (const { day, entryCount } of days) {
    if (through < offset + limit && through + entryCount > offset) onPage.push(day);
    if (onPage.length === 0) skipped += entryCount;
    through += entryCount;
  }
  const [first, last] = [onPage[0], onPage.at(-1)].sort();
  if (first === undefined || last === undefined) {
    return { sequences: [], following: through, total: through };
  }
  const end = endOfDay(last);
  const interval = {
    from: laterOf(startOfDay(first), filter.from ?? startOfDay(first)),
    to: filter.to === null || (end !== null && end < filter.to) ? end : filter.to,
  };
  const { lastSequence: upToSequence } = journal;
  const registeredSequence = await findRegisteredSequence(snapshot, ledgerId, upToSequence);
  const sequences = await listSequencesByDate(
    snapshot,
    ledgerId,
    filter.glAccountCode,
    interval,
    { registeredSequence, upToSequence },
    { direction, offset: offset - skipped, limit },
  );
  return { sequences, following: through, total: through };
}

/** The latest first: a page from the end is one from the beginning, turned around. */
async function findLatest(
  snapshot: Connection,
  ledgerId: string,
  journal: SummedJournal,
  filter: EntryFilter,
  { after, offset, limit }: SearchPage,
): Promise<FoundPage> {
  const total = await journal.countEntries(filter);
  if (after !== null) {
    const upToSequence = Math.min(after - 1, journal.lastSequence);
    const sequences = await listSequences(
      snapshot,
      ledgerId,
      filter,
      { afterSequence: 0, upToSequence },
      { direction: "desc", offset, limit: limit + 1 },
    );
    return { sequences: sequences.slice(0, limit), following: sequences.length, total };
  }
  const count = Math.min(limit, total - offset);
  if (count <= 0) return { sequences: [], following: total, total };
  const sequences = await journal.listSequences(filter, {
    ...{ afterSequence: 0, offset: total - offset - count, limit: count },
  });
  return { sequences: sequences.reverse(), following: total, total };
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

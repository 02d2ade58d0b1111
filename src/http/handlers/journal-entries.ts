// Posting, reversing and reading journal entries.
import { setImmediate as immediate } from "node:timers/promises";
import { refusalBelow, validationRefusal } from "../../core/errors.ts";
import type { Period } from "../../core/period.ts";
import { parseUuid } from "../../core/text.ts";
import { atomicDrafts, parseEntriesBody } from "../../contract/bulk-entries-body.ts";
import { parseEntryBody, parseReversalBody } from "../../contract/entry-body.ts";
import { isContentSearch, searchJournal } from "../../engine/entry-searches.ts";
import { SummedJournal } from "../../engine/summed-journal.ts";
import { type EntryFilter, listEntries as listPage } from "../../store/entry-lists.ts";
import type { EntryContentFilter } from "../../store/entry-searches.ts";
import { readJournalHead } from "../../store/journal-heads.ts";
import type { EntryOutcome } from "../../contract/types.ts";
import { asRefusal, problemDocument } from "../problems.ts";
import { requireEntry, resolvePeriod } from "./named-records.ts";
import { wireEntry } from "./wire-entry.ts";
import { pageBytesMax, searchInSnapshot, type RouteHandler } from "./route-handler.ts";

/** What a reversal weighs beside its body: the entry that it mirrors is read and written whole. */
const reversalBytes = 32 * 1024;

/** How long the entries of one body are read before the event loop goes on to its next tick. */
const tickMs = 10;

export const postEntry: RouteHandler<"postEntry"> = async ({ journal }, request) => {
  const { body, ledger, bodyBytes } = request;
  const parsed = parseEntryBody(body ?? { value: undefined, inexactNumbers: [] }, ledger);
  if (parsed.faults) throw validationRefusal(parsed.faults);
  return journal.postEntry(ledger, parsed.value, bodyBytes);
};

export const postEntries: RouteHandler<"postEntries"> = async ({ journal }, request) => {
  const { ledger, bodyBytes } = request;
  const { isAtomic, count, ...body } = parseEntriesBody(request.body, ledger);
  const entries = await collectOverTicks(body.entries);
  if (isAtomic) {
    return { results: await journal.postAtomicEntries(ledger, atomicDrafts(entries), bodyBytes) };
  }
  const bytes = Math.ceil(bodyBytes / count);
  const results = await Promise.all(
    entries.map(async (parsed, index): Promise<EntryOutcome> => {
      try {
        if (parsed.faults) throw validationRefusal(parsed.faults);
        return { status: 201, ...(await journal.postEntry(ledger, parsed.value, bytes)) };
      } catch (error) {
        const refusal = refusalBelow(["entries", index], asRefusal(error));
        request.noteRefusal(refusal);
        return problemDocument(refusal, request.requestId);
      }
    }),
  );
  return { results };
};

/** What an iterable makes, over several ticks of the event loop: a body with many faults may take seconds to read. */
async function collectOverTicks<Item>(items: Iterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  let tickEndsMs = performance.now() + tickMs;
  for (const item of items) {
    collected.push(item);
    if (performance.now() < tickEndsMs) continue;
    await immediate();
    tickEndsMs = performance.now() + tickMs;
  }
  return collected;
}

export const reverseEntry: RouteHandler<"reverseEntry"> = async ({ journal }, request) => {
  const { body, entryId, ledger, bodyBytes } = request;
  const draft = parseReversalBody(body, parseUuid(entryId));
  return journal.reverseEntry(ledger, draft, bodyBytes + reversalBytes);
};

export const getEntry: RouteHandler<"getEntry"> = async ({ interactive }, { ledger, entryId }) =>
  wireEntry(await requireEntry(interactive, ledger, entryId));

export const listEntries: RouteHandler<"listEntries"> = async (services, request) => {
  const { ledger, query } = request;
  const { limit, offset, after, periodId, from, to, externalId, glAccountCode } = query;
  const { ledgerId } = ledger;
  const given = { from, to, externalId, glAccountCode };
  const filter =
    periodId === null
      ? given
      : within(given, await resolvePeriod(services.interactive, ledgerId, periodId));
  const page = { limit, bytesMax: pageBytesMax };
  if (isSearch(query)) {
    const found = await searchInSnapshot(services, request, (snapshot) =>
      searchJournal(
        snapshot,
        ledgerId,
        { ...filter, ...contentFilter(query) },
        {
          ...{ ...page, after, offset: offset ?? 0 },
          ...{ order: query.order, direction: query.direction },
        },
      ),
    );
    return { ...found, entries: found.entries.map(wireEntry) };
  }
  if (Object.values(filter).some((value) => value !== null)) {
    const found = await searchInSnapshot(services, request, async (snapshot) => {
      const journal = await SummedJournal.read(snapshot, ledgerId);
      const place = { ...page, afterSequence: after ?? 0, offset: offset ?? 0 };
      const [listed, total] = await Promise.all([
        journal.listEntries(filter, place),
        journal.countEntries(filter),
      ]);
      return { ...listed, total };
    });
    return { ...found, entries: found.entries.map(wireEntry) };
  }
  // Who names the entry before the page reads one page after the other, to the end.
  const pool = after === null ? services.interactive : services.pages;
  return pool.withConnection(async (connection) => {
    // Everything is read up to this sequence, so that total, page and hasMore agree while entries arrive.
    const { lastSequence: total } = await readJournalHead(connection, ledgerId);
    const { entries, hasMore } = await listPage(connection, ledgerId, {
      ...page,
      filter,
      // Sequences have no gaps: without a filter, an offset is a sequence.
      afterSequence: after ?? offset ?? 0,
      offset: 0,
      upToSequence: total,
    });
    return { entries: entries.map(wireEntry), total, hasMore };
  });
};

type ListQuery = Parameters<typeof listEntries>[1]["query"];

/** Whether a list is in another order than the journal's, or looks into entries. */
function isSearch(query: ListQuery): boolean {
  const { order, direction } = query;
  return order !== "sequence" || direction !== "asc" || isContentSearch(contentFilter(query));
}

function contentFilter({ text, entryType, ...query }: ListQuery): EntryContentFilter {
  return {
    ...{ text, entryType },
    amountMin: query.amount ?? query.minAmount,
    amountMax: query.amount ?? query.maxAmount,
  };
}

/** A filter, narrowed to a period. */
function within(filter: EntryFilter, { startsAt, endsAt }: Period): EntryFilter {
  const from =
    filter.from === null || (startsAt !== null && startsAt > filter.from) ? startsAt : filter.from;
  const to = filter.to === null || endsAt < filter.to ? endsAt : filter.to;
  return { ...filter, from, to };
}

// Statements that read the entries of a month or of a span, or the sums of all accounts and days.
import type { Timestamp } from "../../../src/core/time.ts";
import * as daySums from "../../../src/store/day-sums.ts";
import { listContentWeights, listEntryContents } from "../../../src/store/entry-contents.ts";
import { everyEntry, type EntryFilter } from "../../../src/store/entry-lists.ts";
import * as orders from "../../../src/store/entry-orders.ts";
import * as searches from "../../../src/store/entry-searches.ts";
import * as journalSpans from "../../../src/store/journal-spans.ts";
import { addRegisterSpan } from "../../../src/store/register-days.ts";
import * as monthSums from "../../../src/store/month-sums.ts";
import * as statementSums from "../../../src/store/statement-sums.ts";
import {
  type Case,
  busyAccount,
  entryCount,
  ledgerId,
  march,
  marchDays,
  marchSpan,
  of,
  rareAccount,
  unsummed,
  whole,
  within,
} from "./cases.ts";
import { inSums, list } from "./lists.ts";

const wholeJournal = { afterSequence: 0, upToSequence: entryCount };

export function search(filter: Partial<EntryFilter & searches.EntryContentFilter>): Case {
  const content = { text: null, amountMin: null, amountMax: null, entryType: null };
  const order = { order: "date", direction: "desc" } as const;
  return of(
    searches.searchEntries,
    ledgerId,
    { ...everyEntry, ...content, ...filter },
    { ...order, after: null, offset: 10, limit: 100 },
    wholeJournal,
  );
}

const inMarch = { startsAt: march.from, endsAt: march.to };

/** What reads the entries of a month or of a span, or the sums of all accounts and days. */
export const sums: readonly Case[] = [
  list({ ...march, glAccountCode: busyAccount }),
  list({ ...march, glAccountCode: rareAccount }),
  inSums("a trial balance", (journal) => journal.sumTrialBalance(inMarch)),
  inSums("a trial balance of cut days", (journal) =>
    journal.sumTrialBalance({
      startsAt: "2025-03-01T07:00:00.000Z" as Timestamp,
      endsAt: "2025-03-20T09:00:00.000Z" as Timestamp,
    }),
  ),
  inSums("entries by month", (journal) => journal.countByMonth([{ ...inMarch, startsAt: null }])),
  inSums("columns of a statement", (journal) =>
    journal.sumColumns([{ from: march.from, to: march.to }], march.to),
  ),
  of(
    statementSums.sumDayColumns,
    ledgerId,
    ["2025-01-01", "2025-02-01"],
    marchDays,
    { fromDay: "2025-03-10", untilDay: "2025-03-20" },
    [],
  ),
  of(statementSums.sumMonthColumns, ledgerId, ["2025-01-01", "2025-02-01"], marchDays),
  of(monthSums.upsertMonths, ledgerId, marchDays),
  of(
    statementSums.sumEntryColumns,
    ledgerId,
    [march.from],
    { from: march.from, to: march.to },
    wholeJournal,
  ),
  of(addRegisterSpan, ledgerId, unsummed),
  // The account's entries up to there.
  of(
    orders.listSequences,
    ledgerId,
    { ...everyEntry, glAccountCode: busyAccount },
    { afterSequence: 0, upToSequence: 200_000 },
    { direction: "desc", offset: 0, limit: 100 },
  ),
  of(orders.countEntriesByDay, ledgerId, everyEntry, unsummed),
  of(orders.countEntriesByDay, ledgerId, { ...everyEntry, glAccountCode: busyAccount }, unsummed),
  of(daySums.sumAccountDays, ledgerId, marchDays, []),
  of(daySums.addSpan, ledgerId, unsummed),
  of(journalSpans.divideSpan, ledgerId, marchSpan, 4_096),
  of(journalSpans.countEntriesByMonth, ledgerId, [inMarch], whole),
  of(journalSpans.sumTrialBalance, ledgerId, { ...marchSpan, openingFrom: march.from }),
];

const part = { ...whole, afterSequence: 300_000, upToSequence: 304_096 };

/** What reads a part of the journal, and a close or a bundle all of it so, part by part. */
export const parts: readonly Case[] = [
  within(of(journalSpans.readLeaves, ledgerId, part), "joinLeaves"),
  of(journalSpans.sumMovements, ledgerId, part),
  of(journalSpans.sumAllMovements, ledgerId, part),
  of(listContentWeights, ledgerId, part, 2_000),
  // Every fifth entry.
  of(
    listEntryContents,
    ledgerId,
    Array.from({ length: 400 }, (_, index) => 300_000 + 5 * index),
  ),
];

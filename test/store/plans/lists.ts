// Statements of lists and registers: what is looked for goes by the spans of the journal.
import { SummedJournal } from "../../../src/engine/summed-journal.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import { listCurrencies } from "../../../src/store/account-balances.ts";
import { everyEntry, type EntryFilter } from "../../../src/store/entry-lists.ts";
import type { PagePlace } from "../../../src/store/entry-places.ts";
import * as orders from "../../../src/store/entry-orders.ts";
import * as searches from "../../../src/store/entry-searches.ts";
import * as checkpoints from "../../../src/store/log-checkpoints.ts";
import * as logs from "../../../src/store/logs.ts";
import { findRegisteredSequence } from "../../../src/store/register-days.ts";
import * as monthSums from "../../../src/store/month-sums.ts";
import * as registers from "../../../src/store/registers.ts";
import * as statementSums from "../../../src/store/statement-sums.ts";
import { startOfDay } from "../../../src/store/whole-days.ts";
import {
  type Case,
  busyAccount,
  entryCount,
  externalIds,
  journalLog,
  ledgerId,
  march,
  marchDays,
  of,
  page,
  rareAccount,
  unsummed,
} from "./cases.ts";

export const inSums = (name: string, read: (journal: SummedJournal) => Promise<unknown>): Case => ({
  name,
  of: ["findPage", "findFirst", "listEntries", "countEntries", "listSums"],
  send: async (connection) => read(await SummedJournal.read(connection, ledgerId)),
});

export function list(filter: Partial<EntryFilter>, place: Partial<PagePlace> = {}): Case {
  return inSums(`entries with ${JSON.stringify({ ...filter, ...place })}`, async (journal) => {
    await journal.listEntries({ ...everyEntry, ...filter }, { ...page, ...place });
    await journal.countEntries({ ...everyEntry, ...filter });
  });
}

const busy = { glAccountCode: busyAccount, currency: null };
const rare = { glAccountCode: rareAccount, currency: "USD" };
const middle = registers.placeBefore("2025-03-20T09:00:00.000Z" as Timestamp);

/** Whole spans are in registers, as in sums. */
const reach = {
  registeredSequence: entryCount - (entryCount % 8_192),
  upToSequence: entryCount,
};

function ofRegister(
  subject: registers.RegisterSubject,
  range: registers.RegisterRange,
  read: registers.RegisterReach = reach,
): Case {
  const limits = { limit: 100, bytesMax: 8_000_000 };
  return of(registers.listRegisterLines, ledgerId, subject, read, range, limits);
}

function byDate(glAccountCode: string | null, from: string, to: string): Case {
  const interval = { from: startOfDay(from), to: startOfDay(to) };
  const inOrder = { direction: "desc", offset: 20, limit: 100 } as const;
  return of(orders.listSequencesByDate, ledgerId, glAccountCode, interval, reach, inOrder);
}

/** What is looked for goes by the spans of the journal, and by the entries that are not summed yet. */
export const lists: readonly Case[] = [
  of(checkpoints.listCheckpoints, journalLog, { limit: 100, offset: 5_000 }),
  of(checkpoints.countCheckpoints, journalLog),
  of(checkpoints.listOrigins, journalLog),
  of(checkpoints.listCosignedSizes, journalLog, { below: entryCount, limit: 64 }),
  of(logs.listEntryLeaves, ledgerId, { afterSequence: 4_096, upToSequence: 8_192 }),
  of(statementSums.findFirstDate, ledgerId),
  of(monthSums.listMonths, ledgerId),
  of(monthSums.updateMonthSequence, ledgerId),
  of(monthSums.listLedgersWithNewDays),
  of(searches.listEntriesBySequence, ledgerId, [7, 3_000, 90_000], 8_000_000),
  of(listCurrencies, ledgerId),
  of(findRegisteredSequence, ledgerId, entryCount),
  of(orders.listDayCounts, ledgerId, null, marchDays),
  of(orders.listDayCounts, ledgerId, busyAccount, marchDays),
  byDate(null, "2025-03-20", "2025-03-21"),
  byDate(busyAccount, "2025-03-20", "2025-04-01"),
  byDate(rareAccount, "2024-01-01", "2025-04-01"),
  of(registers.sumDaysBefore, ledgerId, busy, "2025-03-20"),
  of(registers.countRegisteredEntries, ledgerId, rare, "2025-03-20", reach),
  of(registers.sumLinesBefore, ledgerId, busy, middle.transactionDate, unsummed),
  of(registers.sumLinesOfDay, ledgerId, busy, middle, reach),
  ofRegister(busy, { after: null, to: null }),
  ofRegister(busy, { after: middle, to: null }),
  ofRegister(busy, { after: middle, to: march.to }),
  ofRegister(rare, { after: null, to: null }),
  ofRegister(rare, { after: middle, to: null }),
  // As far as another page had it, and nothing is registered since.
  ofRegister(busy, { after: middle, to: null }, { registeredSequence: 8_192, upToSequence: 9_000 }),
  list(march),
  list(march, { offset: 15_000 }),
  list(march, { afterSequence: 260_000 }),
  list({ glAccountCode: busyAccount }),
  list({ glAccountCode: busyAccount }, { offset: 15_000 }),
  list({ glAccountCode: busyAccount }, { afterSequence: 300_000 }),
  list({ glAccountCode: rareAccount }, { offset: 10 }),
  list({ externalId: externalIds[9] ?? "" }),
  list({
    from: "2025-03-01T07:00:00.000Z" as Timestamp,
    to: "2025-03-20T09:00:00.000Z" as Timestamp,
  }),
];

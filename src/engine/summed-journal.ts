// A ledger's journal at one moment: what is summed by day, and the entries since. What is read of it costs the accounts and
// days that are asked for and the entries that are not summed yet.
import { TrialBalance, type BalanceRow } from "../core/close.ts";
import type { Period } from "../core/period.ts";
import type { StoredEntry } from "../core/journal.ts";
import { compareUtf8 } from "../core/text.ts";
import type { ColumnSum, StatementColumn } from "../core/statement.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import {
  countAccountDays,
  countJournalDays,
  readSummedSequence,
  sumAccountDays,
} from "../store/day-sums.ts";
import { countEntries, listEntries, type EntryFilter } from "../store/entry-lists.ts";
import {
  countEntriesByDay,
  listDayCounts,
  listSequences,
  type DayCount,
} from "../store/entry-orders.ts";
import { findPage, type PagePlace } from "../store/entry-places.ts";
import { readJournalHead } from "../store/journal-heads.ts";
import {
  countEntriesByMonth,
  sumTrialBalance,
  type MonthCount,
  type SequenceRange,
} from "../store/journal-spans.ts";
import { listMonths } from "../store/month-sums.ts";
import { sumDayColumns, sumEntryColumns, sumMonthColumns } from "../store/statement-sums.ts";
import { splitByDays, splitByMonths, type DayRange } from "../store/whole-days.ts";

const noDays: DayRange = { fromDay: "infinity", untilDay: "-infinity" };

export class SummedJournal {
  readonly #snapshot: Connection;
  readonly #ledgerId: string;
  /** Entries up to it are in the sums. */
  readonly #summedSequence: number;
  readonly lastSequence: number;
  /** persistedAt of the last entry. */
  readonly lastPersistedAt: Timestamp | null;

  private constructor(
    snapshot: Connection,
    ledgerId: string,
    head: { readonly lastSequence: number; readonly lastPersistedAt: Timestamp | null },
    summedSequence: number,
  ) {
    this.#snapshot = snapshot;
    this.#ledgerId = ledgerId;
    this.#summedSequence = summedSequence;
    this.lastSequence = head.lastSequence;
    this.lastPersistedAt = head.lastPersistedAt;
  }

  /** All that is read has to be of one moment: `snapshot` is one (`Pool.snapshot`). */
  static async read(snapshot: Connection, ledgerId: string): Promise<SummedJournal> {
    const [head, summedSequence] = await Promise.all([
      readJournalHead(snapshot, ledgerId),
      readSummedSequence(snapshot, ledgerId),
    ]);
    // Sums that go further than the journal are somebody's mistake.
    const usable = summedSequence <= head.lastSequence ? summedSequence : 0;
    return new SummedJournal(snapshot, ledgerId, head, usable);
  }

  /** The trial balance of a period, ordered by code; dates before it are its opening. */
  async sumTrialBalance(period: Period): Promise<BalanceRow[]> {
    const sumEntries = (span: Partial<Parameters<typeof sumTrialBalance>[2]>) =>
      sumTrialBalance(this.#snapshot, this.#ledgerId, { ...period, ...this.#unsummed, ...span });
    if (this.#summedSequence === 0) return sumEntries({});
    const { days, parts } = splitByDays(period);
    const cutDays = parts.map(({ day }) => day);
    const sums = await Promise.all([
      sumAccountDays(this.#snapshot, this.#ledgerId, days, cutDays),
      sumEntries({}),
      ...parts.map(({ dayStartsAt, endsAt }) =>
        sumEntries({
          ...this.#summed,
          openingFrom: dayStartsAt,
          endsAt: endsAt ?? period.endsAt,
        }),
      ),
    ]);
    const balance = new TrialBalance();
    for (const rows of sums) balance.addRows(rows);
    return balance.rows();
  }

  /** What accounts moved in columns that follow each other up to a moment, and before the first of them (column 0). */
  async sumColumns(columns: readonly StatementColumn[], to: Timestamp): Promise<ColumnSum[]> {
    const starts = columns.map(({ from }) => from ?? "-infinity");
    const sumEntries = (from: Timestamp | null, endsAt: Timestamp, range: SequenceRange) =>
      sumEntryColumns(this.#snapshot, this.#ledgerId, starts, { from, to: endsAt }, range);
    if (this.#summedSequence === 0) return sumEntries(null, to, this.#unsummed);
    const interval = splitByDays({ startsAt: columns[0]?.from ?? null, endsAt: to });
    const { days, parts } = interval;
    // Columns but the first begin with a month.
    const columnDays = [days.fromDay, ...starts.slice(1).map((start) => start.slice(0, 10))];
    const cutDays = parts.map(({ day }) => day);
    const months = await listMonths(this.#snapshot, this.#ledgerId);
    const { run, rest } = splitByMonths(months, interval);
    const of = [this.#snapshot, this.#ledgerId, columnDays] as const;
    const sums = await Promise.all([
      sumEntries(null, to, this.#unsummed),
      run === null ? [] : sumMonthColumns(...of, run),
      rest === null ? [] : sumDayColumns(...of, rest, run ?? noDays, cutDays),
      ...parts.map(({ dayStartsAt, endsAt }) =>
        sumEntries(dayStartsAt, endsAt ?? to, this.#summed),
      ),
    ]);
    return sums.flat();
  }

  /** How many entries are dated in some periods, by months in UTC, in order. */
  async countByMonth(periods: readonly Period[]): Promise<MonthCount[]> {
    const counts = [countEntriesByMonth(this.#snapshot, this.#ledgerId, periods, this.#unsummed)];
    if (this.#summedSequence > 0) {
      const split = periods.map(splitByDays);
      const parts = split.flatMap((each) => each.parts);
      counts.push(
        countEntriesByMonth(this.#snapshot, this.#ledgerId, parts, this.#summed),
        ...split.map(({ days }) => countJournalDays(this.#snapshot, this.#ledgerId, days)),
      );
    }
    const countOf = new Map<string, number>();
    for (const { month, entryCount } of (await Promise.all(counts)).flat()) {
      countOf.set(month, (countOf.get(month) ?? 0) + entryCount);
    }
    return [...countOf]
      .map(([month, entryCount]) => ({ month, entryCount }))
      .sort((one, other) => compareUtf8(one.month, other.month));
  }

  /** How many entries that pass a filter are dated on each day, in no order. An externalId does not narrow it. */
  async countByDay(filter: EntryFilter): Promise<DayCount[]> {
    const { from, to, glAccountCode } = filter;
    const count = (some: Partial<EntryFilter>, span: SequenceRange) =>
      countEntriesByDay(this.#snapshot, this.#ledgerId, { ...filter, ...some }, span);
    const counts = [count({}, this.#unsummed)];
    if (this.#summedSequence > 0) {
      const { days, parts } = splitByDays({ startsAt: from, endsAt: to });
      counts.push(
        listDayCounts(this.#snapshot, this.#ledgerId, glAccountCode, days),
        ...parts.map(({ startsAt, endsAt }) => count({ from: startsAt, to: endsAt }, this.#summed)),
      );
    }
    const countOf = new Map<string, number>();
    for (const { day, entryCount } of (await Promise.all(counts)).flat()) {
      countOf.set(day, (countOf.get(day) ?? 0) + entryCount);
    }
    return [...countOf].map(([day, entryCount]) => ({ day, entryCount }));
  }

  /** How many entries pass a filter. */
  async countEntries(filter: EntryFilter): Promise<number> {
    const { from, to, externalId, glAccountCode } = filter;
    const count = (some: Partial<EntryFilter>, span: SequenceRange) =>
      countEntries(this.#snapshot, this.#ledgerId, { ...filter, ...some }, span);
    // It is in one entry at most.
    if (externalId !== null)
      return count({}, { afterSequence: 0, upToSequence: this.lastSequence });
    const counts = [count({}, this.#unsummed)];
    if (this.#summedSequence > 0) {
      const { days, parts } = splitByDays({ startsAt: from, endsAt: to });
      counts.push(
        glAccountCode === null
          ? countJournalDays(this.#snapshot, this.#ledgerId, days).then(sumCounts)
          : countAccountDays(this.#snapshot, this.#ledgerId, glAccountCode, days),
        ...parts.map(({ startsAt, endsAt }) => count({ from: startsAt, to: endsAt }, this.#summed)),
      );
    }
    return (await Promise.all(counts)).reduce((sum, part) => sum + part, 0);
  }

  /**
   * A page of the entries that pass a filter, by sequence. It ends early where its JSON would weigh more than `bytesMax`,
   * but never before its first entry. `hasMore`: whether entries follow the page.
   */
  async listEntries(
    filter: EntryFilter,
    page: PagePlace & { readonly bytesMax: number },
  ): Promise<{ entries: StoredEntry[]; hasMore: boolean }> {
    const place =
      this.#summedSequence === 0 || filter.externalId !== null
        ? { ...page, upToSequence: null }
        : await findPage(this.#snapshot, this.#ledgerId, filter, page, this.#summedSequence);
    return listEntries(this.#snapshot, this.#ledgerId, {
      ...page,
      ...place,
      filter,
      upToSequence: place.upToSequence ?? this.lastSequence,
    });
  }

  /** The sequences of a page of the entries that pass a filter, by sequence. */
  async listSequences(filter: EntryFilter, page: PagePlace): Promise<number[]> {
    const { from, to, glAccountCode } = filter;
    const isEvery = from === null && to === null && glAccountCode === null;
    const place = isEvery
      ? // Sequences have no gaps: without a filter, an offset is a sequence.
        { afterSequence: page.afterSequence + page.offset, offset: 0, upToSequence: null }
      : this.#summedSequence === 0
        ? { ...page, upToSequence: null }
        : await findPage(this.#snapshot, this.#ledgerId, filter, page, this.#summedSequence);
    const { afterSequence, offset } = place;
    const upToSequence = place.upToSequence ?? this.lastSequence;
    const range = { afterSequence, upToSequence };
    const { limit } = page;
    const inOrder = { direction: "asc", offset, limit } as const;
    return listSequences(this.#snapshot, this.#ledgerId, filter, range, inOrder);
  }

  get #unsummed(): SequenceRange {
    return { afterSequence: this.#summedSequence, upToSequence: this.lastSequence };
  }

  get #summed(): SequenceRange {
    return { afterSequence: 0, upToSequence: this.#summedSequence };
  }
}

function sumCounts(counts: readonly MonthCount[]): number {
  return counts.reduce((sum, { entryCount }) => sum + entryCount, 0);
}

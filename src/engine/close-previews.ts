// What a close would do if it were made this moment, and what somebody should know before it is. Bounds,
// sums and postings come from the functions that a close uses; nothing is locked and nothing is written.
import {
  movedBalances,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
  type MovedBalance,
} from "../core/close.ts";
import {
  ClosedCalendar,
  holds,
  readPeriodLabel,
  type CloseRequest,
  type Period,
} from "../core/period.ts";
import { unknownCurrencies } from "../core/currencies.ts";
import type { Posting } from "../core/posting.ts";
import type { Timestamp } from "../core/time.ts";
import { listCurrencies } from "../store/account-balances.ts";
import { readClock } from "../store/journal-heads.ts";
import { listAssetsWithoutRate } from "../store/pending-postings.ts";
import {
  findCloseOfPeriod,
  findLastClose,
  listCloseBalances,
  listClosedPeriods,
} from "../store/period-closes.ts";
import { everyEntry } from "../store/entry-lists.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { closingTime, periodOf } from "./closes.ts";
import { SummedJournal } from "./summed-journal.ts";
import { previewPending } from "./posting.ts";

export interface ClosePreview {
  readonly period: Period;
  /** The close that the period has already: closing it again would give this and do nothing. */
  readonly close: CloseRecord | null;
  readonly previewedAt: Timestamp;
  /** The label is no date, so that everything up to the moment of the close would be closed. */
  readonly closesToDate: boolean;
  readonly endsInFuture: boolean;
  /** The ledger's last sequence, before the postings. */
  readonly lastSequence: number;
  /** Entries of the period, with the postings that would be made. */
  readonly entryCount: number;
  /** Its trial balance, with the postings that would be made. */
  readonly rows: readonly BalanceRow[];
  readonly postings: readonly Posting[];
  /** Assets whose wallet writes can't be posted, for want of a rate. */
  readonly assetsWithoutRate: readonly string[];
  /** Codes of three letters in the ledger's entries that are no ISO 4217 currency. */
  readonly unknownCurrencies: readonly string[];
  /** Entries dated before the period and in no closed one, by months. */
  readonly earlierOpen: readonly { readonly month: string; readonly entryCount: number }[];
  /** Closes whose figures are no longer those of the books. */
  readonly moved: readonly {
    readonly close: CloseRecord;
    readonly accounts: readonly MovedBalance[];
  }[];
}

/**
 * `longRunning` must let a statement take minutes: sums over years are read through it. `signal` aborts when nobody
 * waits for it any more. Rejects as a close does: `validation` for bounds in the wrong order; labels were checked.
 */
export async function previewClose(
  longRunning: Pool,
  ledgerId: string,
  request: CloseRequest,
  signal: AbortSignal | null = null,
): Promise<ClosePreview> {
  const { moment, read } = await longRunning.snapshot(
    async (snapshot) => {
      const journal = await SummedJournal.read(snapshot, ledgerId);
      const moment = await readMoment(snapshot, ledgerId, request, journal);
      return { moment, read: await readSums(snapshot, journal, moment) };
    },
    { signal },
  );
  const { period, close } = moment;
  const balances = new TrialBalance(read.rows);
  let { entryCount } = read;
  for (const { transactionDate, lines } of moment.postings) {
    if (holds(period, transactionDate)) {
      balances.addEntry(lines);
      entryCount += 1;
    } else if (period.startsAt !== null && transactionDate < period.startsAt) {
      balances.addOpening(lines);
    }
  }
  return {
    period,
    close,
    previewedAt: moment.previewedAt,
    closesToDate: close === null && isToDate(request),
    endsInFuture: close === null && period.endsAt > moment.previewedAt,
    lastSequence: moment.lastSequence,
    entryCount,
    rows: balances.rows(),
    postings: moment.postings,
    assetsWithoutRate: moment.assetsWithoutRate,
    unknownCurrencies: unknownCurrencies(moment.currencies),
    earlierOpen: read.earlierOpen,
    moved: read.moved.filter(({ accounts }) => accounts.length > 0),
  };
}

/** What of the ledger can change, as it is at one moment. */
async function readMoment(
  connection: Connection,
  ledgerId: string,
  request: CloseRequest,
  { lastSequence, lastPersistedAt }: SummedJournal,
) {
  const [close, now, closedPeriods, last, assetsWithoutRate, currencies] = await Promise.all([
    findCloseOfPeriod(connection, ledgerId, request.periodId),
    readClock(connection),
    listClosedPeriods(connection, ledgerId, 0),
    findLastClose(connection, ledgerId),
    listAssetsWithoutRate(connection, ledgerId),
    listCurrencies(connection, ledgerId),
  ]);
  const calendar = new ClosedCalendar(closedPeriods);
  const previewedAt = closingTime(now, lastPersistedAt, calendar);
  const { startsAt, endsAt } = close ?? periodOf(request, calendar, previewedAt);
  // The close whose end comes last of those that end before the period starts.
  const lastEnd = startsAt === null ? null : calendar.lastEndUpTo(startsAt);
  const previous = closedPeriods.findLast((closed) => closed.endsAt === lastEnd);
  const before =
    previous === undefined
      ? null
      : await findCloseOfPeriod(connection, ledgerId, previous.periodId);
  return {
    period: { startsAt, endsAt },
    close,
    previewedAt,
    calendar,
    lastSequence,
    assetsWithoutRate,
    currencies,
    // A period that is closed already is not closed again: nothing would be posted.
    postings: close === null ? await previewPending(connection, ledgerId, calendar) : [],
    compared: distinct([close, last, before]),
  };
}

function distinct(closes: readonly (CloseRecord | null)[]): CloseRecord[] {
  const byNumber = new Map(
    closes.flatMap((close) => (close === null ? [] : [[close.number, close]])),
  );
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

/** What is summed of the period, and of closes to compare with what they stored. */
async function readSums(
  connection: Connection,
  journal: SummedJournal,
  { period, calendar, compared }: Awaited<ReturnType<typeof readMoment>>,
) {
  const { startsAt } = period;
  const comparisons = compared.map(async (close) => ({
    close,
    accounts: movedBalances(
      await listCloseBalances(connection, close),
      await journal.sumTrialBalance(close),
    ),
  }));
  const [rows, entryCount, earlierOpen, moved] = await Promise.all([
    journal.sumTrialBalance(period),
    journal.countEntries({ ...everyEntry, from: startsAt, to: period.endsAt }),
    startsAt === null ? [] : journal.countByMonth(calendar.openBefore(startsAt)),
    Promise.all(comparisons),
  ]);
  return { rows, entryCount, earlierOpen, moved };
}

function isToDate({ periodId, endsAt }: CloseRequest): boolean {
  return endsAt === null && readPeriodLabel(periodId) === "toDate";
}

// Intervals of time as whole months and whole days in UTC, which are summed, and parts of days, which are not.
import { nextStep } from "../core/statement.ts";
import { timestampFromEpochMs, type Timestamp } from "../core/time.ts";

const dayMs = 86_400_000;

/** A half-open interval of transaction dates; null is without a bound. */
export interface Interval {
  readonly startsAt: Timestamp | null;
  readonly endsAt: Timestamp | null;
}

/** Days in UTC, from one to another, which is not included. PostgreSQL's `-infinity` and `infinity` are without a bound. */
export interface DayRange {
  readonly fromDay: string;
  readonly untilDay: string;
}

export interface SplitInterval {
  /** The days that are wholly in the interval. */
  readonly days: DayRange;
  /** Of the days that a bound cuts, at most two, what is in the interval, and when the day begins. */
  readonly parts: readonly (Interval & { readonly day: string; readonly dayStartsAt: Timestamp })[];
}

/** Splits an interval at the midnights after its start and before its end. */
export function splitByDays({ startsAt, endsAt }: Interval): SplitInterval {
  if (startsAt !== null && endsAt !== null && startsAt >= endsAt) {
    return { days: { fromDay: dayOf(endsAt), untilDay: dayOf(endsAt) }, parts: [] };
  }
  const startDay = startsAt === null ? null : dayOf(startsAt);
  const endDay = endsAt === null ? null : dayOf(endsAt);
  const isStartCut = startDay !== null && startsAt !== startOfDay(startDay);
  const isEndCut = endDay !== null && endsAt !== startOfDay(endDay);
  const nextDay = startDay === null ? null : dayAfter(startDay);
  const fromDay = isStartCut ? (nextDay ?? "infinity") : (startDay ?? "-infinity");
  const days = { fromDay, untilDay: endDay ?? "infinity" };
  const parts = [];
  if (isStartCut) {
    const dayEndsAt = nextDay === null ? null : startOfDay(nextDay);
    const partEndsAt = startDay === endDay ? endsAt : dayEndsAt;
    parts.push({ day: startDay, dayStartsAt: startOfDay(startDay), startsAt, endsAt: partEndsAt });
  }
  if (isEndCut && !(isStartCut && startDay === endDay)) {
    const dayStartsAt = startOfDay(endDay);
    parts.push({ day: endDay, dayStartsAt, startsAt: dayStartsAt, endsAt });
  }
  return { days, parts };
}

/** A month that a ledger has entries in, as its first day, and whether sums by month have all of them. */
export interface SummedMonth {
  readonly month: string;
  readonly isSummed: boolean;
}

/**
 * The longest run of a ledger's months, which are in order, that are summed and wholly in an interval or before it, as their
 * days; and the days from the first of its other months to the end of the interval. null where there are none.
 */
export function splitByMonths(
  months: readonly SummedMonth[],
  { days: { fromDay, untilDay }, parts }: SplitInterval,
): { readonly run: DayRange | null; readonly rest: DayRange | null } {
  const begun = months.filter(({ month }) => month < untilDay);
  let run: readonly SummedMonth[] = [];
  let current: readonly SummedMonth[] = [];
  for (const each of begun) {
    const { fromDay: first, untilDay: next } = daysOf(each, each);
    const isCut =
      next > untilDay ||
      (first < fromDay && fromDay < next) ||
      parts.some(({ day }) => first <= day && day < next);
    current = each.isSummed && !isCut ? [...current, each] : [];
    if (current.length > run.length) run = current;
  }
  const [first] = run;
  const last = run.at(-1);
  const other = begun.find((each) => !run.includes(each));
  return {
    run: first === undefined || last === undefined ? null : daysOf(first, last),
    rest: other === undefined ? null : { fromDay: other.month, untilDay },
  };
}

/** The days from the first of one month to the last of another. */
export function daysOf(first: SummedMonth, last: SummedMonth): DayRange {
  const next = nextStep(startOfDay(last.month), "month");
  return { fromDay: first.month, untilDay: next === null ? "infinity" : dayOf(next) };
}

function dayOf(time: Timestamp): string {
  return time.slice(0, 10);
}

/** The midnight that a day begins with. */
export function startOfDay(day: string): Timestamp {
  return `${day}T00:00:00.000Z` as Timestamp;
}

/** The midnight that a day ends with; null for the last of the year 9999. */
export function endOfDay(day: string): Timestamp | null {
  const next = dayAfter(day);
  return next === null ? null : startOfDay(next);
}

/** null after the last day of the year 9999. */
function dayAfter(day: string): string | null {
  const time = timestampFromEpochMs(Date.parse(day) + dayMs);
  return time === null ? null : dayOf(time);
}

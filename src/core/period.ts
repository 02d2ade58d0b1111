// Periods: what a label means as an interval of time, and which moments closes cover.
import { laterOf, timestampFromEpochMs, type Timestamp } from "./time.ts";

/** A half-open interval of transaction dates, in UTC; a start of null is the beginning of time. */
export interface Period {
  readonly startsAt: Timestamp | null;
  readonly endsAt: Timestamp;
}

/**
 * What a label says: the bounds of a calendar period; "toDate" for a label that is no date, which closes
 * everything up to the moment of the close; or what is wrong with one that looks like a date.
 */
export type LabelMeaning = Period | "toDate" | { readonly fault: string };

/**
 * Reads a period's label, without regard to case: `2026`; `2026-03`, `2026/03`, `202603`, `Mar 2026`,
 * `March 2026`; `2026-03-31`; `2026-Q1`, `2026Q1`, `Q1-2026`, `Q1 2026`; `2026-H1`; `2026-W09` (ISO 8601
 * week). Every other label closes everything up to the moment of the close.
 */
export function readPeriodLabel(label: string): LabelMeaning {
  for (const { pattern, bounds } of labelForms) {
    const groups = pattern.exec(label)?.groups;
    if (groups === undefined) continue;
    const period = bounds(groups);
    return period ?? { fault: `names no period of the calendar, as ${labelExamples} do` };
  }
  return looksLikeDate.some((pattern) => pattern.test(label.trim()))
    ? { fault: `looks like a date, but is none of ${labelExamples}` }
    : "toDate";
}

/** The forms of labels that name periods of the calendar, one of each. */
export const labelExamples = "2026, 2026-03, Mar 2026, 2026-03-31, 2026-Q1, 2026-H1 and 2026-W09";

/** From January on, in lower case. */
export const monthNames: readonly string[] = `january february march april may june
  july august september october november december`.split(/\s+/);
const monthWord = monthNames.flatMap((name) => [name, name.slice(0, 3)]).join("|");
/** Beginnings of months' names that are neither whole nor of three letters, such as Sept and Janu. */
const cutMonthWord = monthNames
  .flatMap((name) => Array.from({ length: name.length - 4 }, (_, cut) => name.slice(0, cut + 4)))
  .join("|");

type Bounds = Period | { readonly fault: string };
type Groups = Readonly<Record<string, string | undefined>>;

const labelForms: readonly {
  readonly pattern: RegExp;
  /** null for a period that no calendar has. */
  readonly bounds: (groups: Groups) => Bounds | null;
}[] = [
  { pattern: /^(?<year>\d{4})$/, bounds: ({ year }) => months(year, 1, 12) },
  {
    pattern: /^(?<year>\d{4})[-/]?(?<month>\d{2})$/,
    bounds: ({ year, month }) => part(year, month, 12),
  },
  {
    pattern: new RegExp(`^(?<month>${monthWord}) (?<year>\\d{4})$`, "i"),
    bounds: ({ year, month }) => months(year, monthNumber(month ?? ""), 1),
  },
  {
    pattern: /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/,
    bounds: ({ year, month, day }) => oneDay(Number(year), Number(month), Number(day)),
  },
  {
    pattern: /^(?<year>\d{4})-?Q(?<quarter>\d)$/i,
    bounds: ({ year, quarter }) => part(year, quarter, 4),
  },
  {
    pattern: /^Q(?<quarter>\d)[- ](?<year>\d{4})$/i,
    bounds: ({ year, quarter }) => part(year, quarter, 4),
  },
  { pattern: /^(?<year>\d{4})-H(?<half>\d)$/i, bounds: ({ year, half }) => part(year, half, 2) },
  {
    pattern: /^(?<year>\d{4})-W(?<week>\d{2})$/i,
    bounds: ({ year, week }) => isoWeek(Number(year), Number(week)),
  },
];

/** A typing error in a date must not close everything up to now. */
const looksLikeDate: readonly RegExp[] = [
  /^(?:\d{4}|\d{6}|\d{8})$/,
  /^\d{4}[-/. ]\d{1,2}(?:[-/. ]\d{1,2})?$/,
  /^\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4}$/,
  /^\d{1,2}[-/. ]\d{4}$/,
  /^\d{4}[-/. ]?[QHW]\d*$/i,
  /^[QHW]\d*[-/. ]?\d{4}$/i,
  new RegExp(`^(?:${monthWord}|${cutMonthWord})\\.?[-/. ]*\\d{4}$`, "i"),
  new RegExp(`^\\d{4}[-/. ]*(?:${monthWord}|${cutMonthWord})\\.?$`, "i"),
];

function monthNumber(word: string): number {
  return monthNames.findIndex((name) => name.startsWith(word.toLowerCase())) + 1;
}

/** The `which`th of the equal parts of a year. */
function part(
  year: string | undefined,
  which: string | undefined,
  partsPerYear: number,
): Bounds | null {
  const number = Number(which);
  if (number < 1 || number > partsPerYear) return null;
  const length = 12 / partsPerYear;
  return months(year, (number - 1) * length + 1, length);
}

function months(year: string | undefined, firstMonth: number, count: number): Bounds {
  return period(
    utcMidnight(Number(year), firstMonth, 1),
    utcMidnight(Number(year), firstMonth + count, 1),
  );
}

function oneDay(year: number, month: number, day: number): Bounds | null {
  const start = utcMidnight(year, month, day);
  const isDate = start.getUTCMonth() === month - 1 && start.getUTCDate() === day;
  return isDate ? period(start, utcMidnight(year, month, day + 1)) : null;
}

/** ISO 8601: weeks begin on Monday, and a year's first is the one with January 4th in it. */
function isoWeek(year: number, week: number): Bounds | null {
  const start = weekStart(year, week);
  const isOfYear = week >= 1 && start < weekStart(year + 1, 1);
  return isOfYear ? period(start, weekStart(year, week + 1)) : null;
}

function weekStart(year: number, week: number): Date {
  const fourth = utcMidnight(year, 1, 4);
  const daysSinceMonday = (fourth.getUTCDay() + 6) % 7;
  return utcMidnight(year, 1, 4 - daysSinceMonday + (week - 1) * 7);
}

/** Months and days beyond a year's or month's end count on. */
function utcMidnight(year: number, month: number, day: number): Date {
  const date = new Date(0);
  // Date.UTC takes years 0 to 99 for the 1900s; setUTCFullYear does not.
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

/** Times are of the years 0001 to 9999; a period that has no time to begin or to end at is a fault. */
function period(start: Date, end: Date): Bounds {
  const startsAt = timestampFromEpochMs(start.getTime());
  const endsAt = timestampFromEpochMs(end.getTime());
  if (startsAt === null) return { fault: "begins before the year 0001, the first of all times" };
  if (endsAt !== null) return { startsAt, endsAt };
  const last = "9999-12-31T23:59:59.999Z";
  return {
    fault: `ends with the year 9999, behind which is no time: another label and an endsAt of ${last} can close it`,
  };
}

/** Whether a period holds a transaction date. */
export function holds({ startsAt, endsAt }: Period, date: Timestamp): boolean {
  return (startsAt === null || startsAt <= date) && date < endsAt;
}

/** A period that is asked to be closed: a label, and bounds in place of its own where they are not null. */
export interface CloseRequest {
  readonly periodId: string;
  readonly reason: string | null;
  readonly startsAt: Timestamp | null;
  readonly endsAt: Timestamp | null;
}

/** A closed period, and the close that its refusals name. */
export interface ClosedPeriod extends Period {
  readonly periodId: string;
  readonly closeId: string;
}

/** Which moments closes cover. */
export class ClosedCalendar {
  readonly #periods: readonly ClosedPeriod[];
  /** Nothing from here on is covered: most entries are dated behind every close. */
  readonly #openFrom: Timestamp | null;

  constructor(periods: readonly ClosedPeriod[]) {
    this.#periods = periods;
    this.#openFrom = latestEnd(periods);
  }

  /** The first of the closed periods that hold a date, or null where none does. */
  covering(date: Timestamp): ClosedPeriod | null {
    if (this.#openFrom === null || date >= this.#openFrom) return null;
    return this.#periods.find((period) => holds(period, date)) ?? null;
  }

  /** The first instant from a date on that no closed period holds. */
  firstOpenInstant(date: Timestamp): Timestamp {
    let open = date;
    // Each round passes the end of one period at least, so that none is met twice.
    for (let closed = this.covering(open); closed !== null; closed = this.covering(open)) {
      open = closed.endsAt;
    }
    return open;
  }

  /** What lies before a moment and no closed period holds, in order. */
  openBefore(moment: Timestamp): Period[] {
    const open: Period[] = [];
    const ordered = [...this.#periods].sort((a, b) =>
      (a.startsAt ?? "") < (b.startsAt ?? "") ? -1 : 1,
    );
    // Everything before it is closed; null is the beginning of time.
    let from: Timestamp | null = null;
    for (const { startsAt, endsAt } of ordered) {
      if (startsAt !== null && startsAt >= moment) break;
      if (startsAt !== null && (from === null || startsAt > from)) {
        open.push({ startsAt: from, endsAt: startsAt });
      }
      if (from === null || endsAt > from) from = endsAt;
    }
    if (from === null || from < moment) open.push({ startsAt: from, endsAt: moment });
    return open;
  }

  /** The greatest end of a closed period that is not behind a moment; null where there is none. */
  lastEndUpTo(moment: Timestamp): Timestamp | null {
    return latestEnd(this.#periods.filter(({ endsAt }) => endsAt <= moment));
  }
}

function latestEnd(periods: readonly Period[]): Timestamp | null {
  return periods.reduce<Timestamp | null>(
    (latest, { endsAt }) => laterOf(endsAt, latest ?? endsAt),
    null,
  );
}

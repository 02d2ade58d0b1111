// Points in time. Inside, a timestamp is its canonical text, so that comparing texts compares times,
// and the hashed form is the stored form.

/** `YYYY-MM-DDTHH:mm:ss.sssZ`, years 0001 to 9999: UTC, milliseconds. Texts order as their times do. */
export type Timestamp = string & { readonly __brand: "Timestamp" };

const iso8601 =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/;

/** A canonical timestamp, but for days that its month does not have. */
const canonicalForm =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/**
 * Reads an ISO 8601 date and time with `Z` or an offset. Seconds may be missing; digits finer than a
 * millisecond are cut, not rounded. `:60`, `24:00` and years outside 0001 to 9999 (after conversion
 * to UTC) are not times. Returns null for anything else.
 */
export function parseTimestamp(text: string): Timestamp | null {
  // Most texts are; to compute them anew takes ten times as long.
  if (canonicalForm.test(text) && (text.slice(8, 10) <= "28" || dayFault(text) === null)) {
    return text as Timestamp;
  }
  const match = iso8601.exec(text);
  if (match === null || dayFault(text) !== null) return null;
  const [, date, time, second = "00", fraction = "", sign = "+", hours = "00", minutes = "00"] =
    match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  return timestampFromEpochMs(
    Date.parse(`${date}T${time}:${second}.${milliseconds}${sign}${hours}:${minutes}`),
  );
}

/**
 * What is wrong with the day that a text begins with, such as `2026-02 has the days 01 to 28`; null where the
 * calendar has that day, and for a text that begins with none.
 */
export function dayFault(text: string): string | null {
  const [, year = "", month = "", day = ""] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  if (year === "") return null;
  if (Number(month) < 1 || Number(month) > 12) return "a year has the months 01 to 12";
  const days = daysInMonth(Number(year), Number(month));
  const isDay = Number(day) >= 1 && Number(day) <= days;
  return isDay ? null : `${year}-${month} has the days 01 to ${days}`;
}

const epochMsMin = -62_135_596_800_000; // 0001-01-01T00:00:00.000Z
const epochMsMax = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

/** The timestamp of a number of milliseconds since 1970, or null outside the years 0001 to 9999. */
export function timestampFromEpochMs(epochMs: number): Timestamp | null {
  if (!(epochMs >= epochMsMin && epochMs <= epochMsMax)) return null;
  return new Date(epochMs).toISOString() as Timestamp;
}

/** A moment so many milliseconds after another. Throws where that is after the year 9999. */
export function addMs(timestamp: Timestamp, ms: number): Timestamp {
  const later = timestampFromEpochMs(Date.parse(timestamp) + ms);
  if (later === null) throw new Error("a time within the years that we keep");
  return later;
}

/** The later of two moments. */
export function laterOf(left: Timestamp, right: Timestamp): Timestamp {
  return left < right ? right : left;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) {
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    return isLeap ? 29 : 28;
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

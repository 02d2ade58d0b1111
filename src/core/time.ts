// Points in time. Inside, a timestamp is its canonical text, so that comparing texts compares times,
// and the hashed form is the stored form.

/** `YYYY-MM-DDTHH:mm:ss.sssZ`, years 0001 to 9999: UTC, milliseconds. Texts order as their times do. */
export type Timestamp = string & { readonly __brand: "Timestamp" };

const iso8601 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)$/;

/**
 * Reads an ISO 8601 date and time with `Z` or an offset. Seconds may be missing; digits finer than a
 * millisecond are cut, not rounded. `:60`, `24:00` and years outside 0001 to 9999 (after conversion
 * to UTC) are not times. Returns null for anything else.
 */
export function parseTimestamp(text: string): Timestamp | null {
  const match = iso8601.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHour, offsetMinute] =
    match;
  const fields = [month, day, hour, minute, second ?? "0"].map(Number);
  const [monthNumber = 0, dayNumber = 0, hours = 0, minutes = 0, seconds = 0] = fields;
  if (monthNumber < 1 || monthNumber > 12 || hours > 23 || minutes > 59 || seconds > 59)
    return null;
  const yearNumber = Number(year);
  if (dayNumber < 1 || dayNumber > daysInMonth(yearNumber, monthNumber)) return null;
  const offsetHours = Number(offsetHour ?? "0");
  const offsetMinutes = Number(offsetMinute ?? "0");
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (sign === "-" ? -1 : 1);
  const milliseconds = Number((fraction ?? "").slice(0, 3).padEnd(3, "0"));
  const date = new Date(0);
  // Date.UTC takes years 0 to 99 for the 1900s; setUTCFullYear does not.
  date.setUTCFullYear(yearNumber, monthNumber - 1, dayNumber);
  date.setUTCHours(hours, minutes, seconds, milliseconds);
  return timestampFromEpochMs(date.getTime() - offsetMs);
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

// Dates as banks write them: `date-format` of the rules, in the manner of strptime.
import { monthNames } from "../../../core/period.ts";

/** The day of a text as `YYYY-MM-DD`, which the calendar may not have; null where the text has another form. */
export type DateReader = (text: string) => string | null;

const months = monthNames.map((name) => name.slice(0, 3));

const parts: Readonly<Record<string, string>> = {
  Y: "(?<year>[0-9]{4})",
  y: "(?<shortYear>[0-9]{2})",
  m: "(?<month>[0-9]{1,2})",
  d: "(?<day>[0-9]{1,2})",
  e: " ?(?<day>[0-9]{1,2})",
  b: `(?<monthName>${months.join("|")})`,
  B: `(?<monthName>${monthNames.join("|")})`,
  // A time is there to be passed over: entries are of days.
  H: "[0-9]{1,2}",
  M: "[0-9]{2}",
  S: "[0-9]{2}",
  "%": "%",
};

/** A reader of dates in a format such as `%d.%m.%Y`; null: of `2026-03-15`, `2026/03/15` and `2026.03.15`. Throws RangeError. */
export function readDateFormat(format: string | null): DateReader {
  const pattern = format === null ? plainDate : patternOf(format);
  return (text) => {
    const groups = pattern.exec(text.trim())?.groups;
    if (groups === undefined) return null;
    const { year, shortYear = "", month, monthName = "", day = "" } = groups;
    // As POSIX has it: 69 to 99 are of the last century.
    const century = Number(shortYear) >= 69 ? "19" : "20";
    const ofName = String(months.indexOf(monthName.slice(0, 3).toLowerCase()) + 1);
    const padded = (number: string) => number.padStart(2, "0");
    return `${year ?? century + shortYear}-${padded(month ?? ofName)}-${padded(day)}`;
  };
}

const plainDate = /^(?<year>[0-9]{4})([-/.])(?<month>[0-9]{1,2})\2(?<day>[0-9]{1,2})$/;

function patternOf(format: string): RegExp {
  let source = "";
  for (const [found, directive] of format.matchAll(/%-?(.)|[^%]/gsu)) {
    const part = directive === undefined ? escaped(found) : parts[directive];
    if (part === undefined) throw new RangeError(`date-format: ${found} is not known`);
    source += part;
  }
  const named = Array.from(source.matchAll(/\(\?<(\w+)>/g), ([, name = ""]) => name);
  const has = (...names: string[]) => named.some((name) => names.includes(name));
  if (!has("year", "shortYear") || !has("month", "monthName") || !has("day")) {
    throw new RangeError("date-format needs a year (%Y, %y), a month (%m, %b, %B) and a day (%d)");
  }
  if (new Set(named).size < named.length) throw new RangeError("date-format has a part twice");
  return new RegExp(`^${source}$`, "iu");
}

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
}

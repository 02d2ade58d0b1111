// What a column of a statement is called: by the calendar where its bounds are of it.
import { readPeriodLabel } from "../../../core/period.ts";
import { timestampFromEpochMs } from "../../../core/time.ts";
import { dayOrTime } from "../../terminal/short-date.ts";

/**
 * `2026-03`, `2026-Q1`, `2026` for what the calendar has; else both days, the last included. Without a beginning, the last
 * day: `to 2026-03-31`.
 */
export function columnTitle(from: string | null, to: string): string {
  const last = lastDay(to);
  if (from === null) return `to ${last}`;
  return labelOf(from, to) ?? `${dayOrTime(from)} to ${last}`;
}

/**
 * The same for a narrow terminal: `to date` where the end is the moment of asking, `2026-11 to date` from the beginning of a
 * month, quarter or year on; else without what says nothing: `03-15 to 03-31`, `to 2026-03-31 12:00`.
 */
export function shortColumnTitle(
  from: string | null,
  to: string,
  { step, isToDate }: { readonly step: Step | null; readonly isToDate: boolean },
): string {
  const last = toTheMinute(lastDay(to));
  if (from === null) return isToDate ? "to date" : `to ${last}`;
  if (isToDate) return `${startOf(from, step) ?? toTheMinute(dayOrTime(from))} to date`;
  const label = labelOf(from, to);
  if (label !== null) return label;
  const names = [toTheMinute(dayOrTime(from)), last];
  const isOneYear = last.startsWith(from.slice(0, 5));
  return names.map((name) => (isOneYear ? name.slice(5) : name)).join(" to ");
}

type Step = "month" | "quarter" | "year";

/** The month, quarter or year that begins with a moment, or null. */
function startOf(from: string, step: Step | null): string | null {
  const [year, month] = [from.slice(0, 4), Number(from.slice(5, 7))];
  const labels = { year, quarter: `${year}-Q${Math.ceil(month / 3)}`, month: from.slice(0, 7) };
  const label = step === null ? null : labels[step];
  const meaning = label === null ? "toDate" : readPeriodLabel(label);
  if (meaning === "toDate" || "fault" in meaning) return null;
  return meaning.startsAt === from ? label : null;
}

/** `2026-03-31 12:00`. */
function toTheMinute(moment: string): string {
  return moment.replace(/T(\d\d:\d\d).*$/, " $1");
}

function labelOf(from: string, to: string): string | null {
  const [year, month] = [from.slice(0, 4), Number(from.slice(5, 7))];
  const quarter = `${year}-Q${Math.ceil(month / 3)}`;
  const labels = [year, quarter, from.slice(0, 7), from.slice(0, 10)];
  return labels.find((label) => isOf(label, from, to)) ?? null;
}

function isOf(label: string, from: string, to: string): boolean {
  const meaning = readPeriodLabel(label);
  if (meaning === "toDate" || "fault" in meaning) return false;
  return meaning.startsAt === from && meaning.endsAt === to;
}

/** The day that ends with a moment, or the moment. */
function lastDay(to: string): string {
  if (!to.endsWith("T00:00:00.000Z")) return to;
  return timestampFromEpochMs(Date.parse(to) - 1)?.slice(0, 10) ?? to;
}

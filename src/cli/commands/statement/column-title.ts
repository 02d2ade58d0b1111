// What a column of a statement is called: by the calendar where its bounds are of it.
import { readPeriodLabel } from "../../../core/period.ts";
import { timestampFromEpochMs } from "../../../core/time.ts";

/**
 * `2026-03`, `2026-Q1`, `2026` for what the calendar has; else both days, the last included. Without a beginning, the last
 * day: `to 2026-03-31`.
 */
export function columnTitle(from: string | null, to: string): string {
  const last = lastDay(to);
  if (from === null) return `to ${last}`;
  return labelOf(from, to) ?? `${day(from)} to ${last}`;
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

function day(moment: string): string {
  return moment.replace(/T00:00:00\.000Z$/, "");
}

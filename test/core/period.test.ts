// Labels of periods and the intervals that they mean.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClosedCalendar, holds, readPeriodLabel, type Period } from "../../src/core/period.ts";
import { parseTimestamp, timestampFromEpochMs, type Timestamp } from "../../src/core/time.ts";

const at = (text: string): Timestamp => {
  const timestamp = parseTimestamp(text.includes("T") ? text : `${text}T00:00:00Z`);
  if (timestamp === null) throw new Error(`not a time: ${text}`);
  return timestamp;
};
const between = (start: string, end: string): Period => ({ startsAt: at(start), endsAt: at(end) });

test.each([
  ["2026", "2026-01-01", "2027-01-01"],
  ["0001", "0001-01-01", "0002-01-01"],
  ["2026-03", "2026-03-01", "2026-04-01"],
  ["2026/03", "2026-03-01", "2026-04-01"],
  ["202612", "2026-12-01", "2027-01-01"],
  ["Jan 2026", "2026-01-01", "2026-02-01"],
  ["january 2026", "2026-01-01", "2026-02-01"],
  ["MAY 2026", "2026-05-01", "2026-06-01"],
  ["December 2026", "2026-12-01", "2027-01-01"],
  ["2024-02-29", "2024-02-29", "2024-03-01"],
  ["2026-12-31", "2026-12-31", "2027-01-01"],
  ["2026-Q1", "2026-01-01", "2026-04-01"],
  ["2026q4", "2026-10-01", "2027-01-01"],
  ["Q2-2026", "2026-04-01", "2026-07-01"],
  ["q3 2026", "2026-07-01", "2026-10-01"],
  ["2026-H1", "2026-01-01", "2026-07-01"],
  ["2026-h2", "2026-07-01", "2027-01-01"],
  ["2026-W01", "2025-12-29", "2026-01-05"],
  ["2026-w53", "2026-12-28", "2027-01-04"],
  ["2027-W01", "2027-01-04", "2027-01-11"],
  ["0050-01", "0050-01-01", "0050-02-01"],
])("%s begins on %s and ends on %s", (label, start, end) => {
  expect(readPeriodLabel(label)).toEqual(between(start, end));
});

test.each([
  ...[
    "2026-13",
    "2026-00",
    "202613",
    "2026/00",
    "2026-Q5",
    "2026Q0",
    "Q5-2026",
    "2026-H3",
    "2026-H0",
  ],
  ...["2026-W00", "2026-W54", "2025-W53", "2026-02-29", "2026-04-31", "2026-13-01", "0000", "9999"],
  ...["2026-1", "2026-1-2", "2026 Q1", "2026H1", "2026-W5", "Sept 2026", "Jan. 2026", "2026 Jan"],
  ...[" 2026-01", "2026-01 ", "20260131", "31.01.2026", "01/2026", "2026-Q", "H1 2026", "2026-Q11"],
])("%j looks like a date and is none", (label) => {
  expect(readPeriodLabel(label)).toEqual({ fault: expect.any(String) as string });
});

test.each([
  ...["9999", "9999-12", "9999-Q4", "9999-H2", "9999-12-31", "December 9999", "9999-W52"].map(
    (label) => [label, "ends with the year 9999"],
  ),
  ...["0000", "0000-12", "0000-Q1"].map((label) => [label, "begins before the year 0001"]),
])("%j has no time for a bound, and says which", (label, fault) => {
  expect(readPeriodLabel(label)).toEqual({ fault: expect.stringContaining(fault) as string });
});

test("the first and the last labels that have times for their bounds are periods", () => {
  expect(readPeriodLabel("0001")).toEqual(between("0001-01-01", "0002-01-01"));
  expect(readPeriodLabel("9999-11")).toEqual(between("9999-11-01", "9999-12-01"));
});

test.each([
  ...[
    "FY26",
    "opening clean-up",
    "final",
    "2026-01-adjustments",
    "Marketing 2026",
    "Q",
    "month-end",
  ],
  ...["12", "2026-01-01T00:00:00Z", "Übertrag", "1", "Quarter 1"],
])("%j closes the books to date", (label) => {
  expect(readPeriodLabel(label)).toBe("toDate");
});

test("the months of a year follow each other without a gap, as do its weeks and days", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9998 }), (yearNumber) => {
      const year = String(yearNumber).padStart(4, "0");
      const month = (number: number) => `${year}-${String(number).padStart(2, "0")}`;
      const labels = Array.from({ length: 12 }, (_, index) => month(index + 1));
      const periods = labels.map((label) => readPeriodLabel(label) as Period);
      const whole = readPeriodLabel(year) as Period;
      expect(periods[0]?.startsAt).toBe(whole.startsAt);
      expect(periods.at(-1)?.endsAt).toBe(whole.endsAt);
      periods.slice(1).forEach((period, index) => {
        expect(period.startsAt).toBe(periods[index]?.endsAt);
      });
    }),
    { numRuns: 50 },
  );
});

describe("a period", () => {
  const january = between("2026-01-01", "2026-02-01");

  test("holds its first instant and not its last", () => {
    expect(holds(january, at("2026-01-01"))).toBe(true);
    expect(holds(january, at("2026-01-31T23:59:59.999Z"))).toBe(true);
    expect(holds(january, at("2026-02-01"))).toBe(false);
    expect(holds(january, at("2025-12-31T23:59:59.999Z"))).toBe(false);
  });

  test("without a start holds all that comes before its end", () => {
    expect(holds({ startsAt: null, endsAt: at("2026-01-01") }, at("0001-01-01"))).toBe(true);
  });
});

test("the first open instant is the date itself or the end of a period, and open", () => {
  const day = (number: number) => timestampFromEpochMs(number * 86_400_000) ?? at("1970-01-01");
  const interval = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 15 })).map(([start, length]) => ({
    startsAt: day(start),
    endsAt: day(start + length),
    periodId: "",
    closeId: "",
  }));
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 12 }), fc.nat(60), (periods, number) => {
      const date = day(number);
      const calendar = new ClosedCalendar(periods);
      const open = calendar.firstOpenInstant(date);
      expect(calendar.covering(date) === null).toBe(open === date);
      expect(periods.some((period) => holds(period, open))).toBe(false);
      for (let each = 0; each <= 60; each += 1) {
        const isOpen = calendar.openBefore(date).some((period) => holds(period, day(each)));
        const isExpected = each < number && !periods.some((period) => holds(period, day(each)));
        expect(isOpen).toBe(isExpected);
      }
      // Whatever lies between is covered.
      for (let each = number; day(each) < open; each += 1) {
        expect(periods.some((period) => holds(period, day(each)))).toBe(true);
      }
    }),
  );
});

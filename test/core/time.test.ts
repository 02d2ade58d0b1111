// Timestamps, as they are read and as they are kept.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  dayFault,
  laterOf,
  parseTimestamp,
  timestampFromEpochMs,
  type Timestamp,
} from "../../src/core/time.ts";

describe("reading a timestamp", () => {
  test.each([
    ["2026-01-31T23:59:59.999Z", "2026-01-31T23:59:59.999Z"],
    ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000Z"],
    ["2026-01-31T23:59Z", "2026-01-31T23:59:00.000Z"],
    ["2026-01-31t23:59:59.5z", "2026-01-31T23:59:59.500Z"],
    ["2026-01-31T23:59:59.9999Z", "2026-01-31T23:59:59.999Z"],
    ["2026-01-31T23:59:59.123456789Z", "2026-01-31T23:59:59.123Z"],
    ["2026-02-01T01:00:00+01:30", "2026-01-31T23:30:00.000Z"],
    ["2026-01-31T23:00:00-02:00", "2026-02-01T01:00:00.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0050-06-01T00:00:00Z", "0050-06-01T00:00:00.000Z"],
    ["0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("takes %s as %s", (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
  });

  test.each([
    "",
    "2026-01-31",
    "2026-01-31T23:59:59",
    "2026-01-31 23:59:59Z",
    "2026-01-31T23Z",
    "2026-01-31T23:59:60Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T23:60:00Z",
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-02-29T00:00:00.000Z",
    "2026-04-31T00:00:00.000Z",
    "0000-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.000Z\n",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "+2026-01-01T00:00:00Z",
    "-2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+01:60",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00Z\n",
    " 2026-01-01T00:00:00Z",
    "1767225600",
    "２０２６-01-01T00:00:00Z",
  ])("refuses '%s'", (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  test("agrees with ECMAScript on every instant of the years 1 to 9999, at any offset", () => {
    const epochMs = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    const offsetMinutes = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(epochMs, offsetMinutes, (ms, minutes) => {
        const local = new Date(ms + minutes * 60_000);
        fc.pre(local.getUTCFullYear() >= 0 && local.getUTCFullYear() <= 9999);
        const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
        const distance = Math.abs(minutes);
        const offset = `${minutes < 0 ? "-" : "+"}${two(distance / 60)}:${two(distance % 60)}`;
        const text = local.toISOString().replace("Z", offset);
        expect(parseTimestamp(text)).toBe(new Date(ms).toISOString());
      }),
    );
  });
});

describe("timestamps", () => {
  test("order as texts as they do in time", () => {
    const epochMs = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(epochMs, epochMs, (left, right) => {
        const [a, b] = [timestampFromEpochMs(left), timestampFromEpochMs(right)];
        if (a === null || b === null) throw new Error("both are within the years");
        expect(a < b).toBe(left < right);
        expect(laterOf(a, b)).toBe(left < right ? b : a);
      }),
    );
  });

  test("end with the years 1 and 9999", () => {
    expect(timestampFromEpochMs(-62_135_596_800_001)).toBeNull();
    expect(timestampFromEpochMs(253_402_300_800_000)).toBeNull();
    expect(timestampFromEpochMs(Number.NaN)).toBeNull();
    expect(timestampFromEpochMs(0)).toBe("1970-01-01T00:00:00.000Z");
  });

  test("have a later one of two", () => {
    const [early, late] = ["0999-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"] as Timestamp[];
    if (early === undefined || late === undefined) throw new Error("there are two");
    expect(laterOf(early, late)).toBe(late);
    expect(laterOf(late, early)).toBe(late);
  });
});

describe("what is wrong with a day", () => {
  test.each([
    ["2026-02-30", "2026-02 has the days 01 to 28"],
    ["2024-02-30T09:30:00Z", "2024-02 has the days 01 to 29"],
    ["2026-04-31", "2026-04 has the days 01 to 30"],
    ["2026-01-00", "2026-01 has the days 01 to 31"],
    ["2026-13-01", "a year has the months 01 to 12"],
    ["2026-00-01", "a year has the months 01 to 12"],
  ])("of %s is told", (text, fault) => {
    expect(dayFault(text)).toBe(fault);
  });

  test.each(["2024-02-29", "2026-01-31T24:00:00Z", "15.3.2026", "2026-2-30", "2026-02-301", ""])(
    "is nothing of %j",
    (text) => {
      expect(dayFault(text)).toBeNull();
    },
  );
});

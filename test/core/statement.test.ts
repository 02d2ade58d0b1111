// Columns of statements, and what stands in them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { columnsMax, columnsOf, statementSteps, stepStart } from "../../src/core/statement.ts";
import { timestampFromEpochMs, type Timestamp } from "../../src/core/time.ts";

const at = (text: string) => text as Timestamp;

describe("columns", () => {
  test("are the quarters of the calendar, the first and the last cut by the bounds", () => {
    const columns = columnsOf(
      at("2025-02-15T08:00:00.000Z"),
      at("2025-07-01T00:00:00.001Z"),
      "quarter",
    );
    expect(columns).toEqual([
      { from: "2025-02-15T08:00:00.000Z", to: "2025-04-01T00:00:00.000Z" },
      { from: "2025-04-01T00:00:00.000Z", to: "2025-07-01T00:00:00.000Z" },
      { from: "2025-07-01T00:00:00.000Z", to: "2025-07-01T00:00:00.001Z" },
    ]);
  });

  test("end with the calendar's last moment", () => {
    const last = at("9999-12-31T23:59:59.999Z");
    expect(columnsOf(at("9999-11-30T00:00:00.000Z"), last, "month")).toEqual([
      { from: "9999-11-30T00:00:00.000Z", to: "9999-12-01T00:00:00.000Z" },
      { from: "9999-12-01T00:00:00.000Z", to: last },
    ]);
    expect(
      columnsOf(at("0001-01-01T00:00:00.000Z"), at("0001-02-01T00:00:00.000Z"), "year"),
    ).toEqual([{ from: "0001-01-01T00:00:00.000Z", to: "0001-02-01T00:00:00.000Z" }]);
  });

  test("are at most ten years of months", () => {
    const ten = columnsOf(at("2020-01-01T00:00:00.000Z"), at("2030-01-01T00:00:00.000Z"), "month");
    expect(ten).toHaveLength(columnsMax);
    expect(
      columnsOf(at("2020-01-01T00:00:00.000Z"), at("2030-01-01T00:00:00.001Z"), "month"),
    ).toBeNull();
  });

  const aTime = fc
    .integer({ min: -2_000_000_000_000, max: 4_000_000_000_000 })
    .map((ms) => timestampFromEpochMs(ms) ?? at("2026-01-01T00:00:00.000Z"));

  test("follow each other without a gap, each within one step", () => {
    fc.assert(
      fc.property(aTime, aTime, fc.constantFrom(...statementSteps), (one, other, by) => {
        const [from = one, to = other] = [one, other].sort();
        fc.pre(from < to);
        const columns = columnsOf(from, to, by);
        if (columns === null) return;
        expect(columns[0]?.from).toBe(from);
        expect(columns.at(-1)?.to).toBe(to);
        columns.forEach((column, index) => {
          const start = column.from ?? at("");
          expect(start < column.to).toBe(true);
          if (index > 0) {
            expect(start).toBe(columns[index - 1]?.to);
            expect(stepStart(start, by)).toBe(start);
          }
          const lastMs = timestampFromEpochMs(Date.parse(column.to) - 1) ?? at("");
          expect(stepStart(lastMs, by)).toBe(stepStart(start, by));
        });
      }),
    );
  });
});

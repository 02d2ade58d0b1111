// What the columns of statements are called, in full and on narrow terminals.
import { describe, expect, it } from "vitest";
import { columnTitle, shortColumnTitle } from "../../src/cli/commands/statement/column-title.ts";

const at = (day: string) => `${day}T00:00:00.000Z`;
const now = "2026-11-24T20:13:12.123Z";

describe("a column of a statement", () => {
  it("is called by the calendar, or by its days, the last included", () => {
    expect(columnTitle(at("2026-03-01"), at("2026-04-01"))).toBe("2026-03");
    expect(columnTitle(at("2026-01-01"), at("2026-04-01"))).toBe("2026-Q1");
    expect(columnTitle(at("2026-01-01"), at("2027-01-01"))).toBe("2026");
    expect(columnTitle(at("2026-03-15"), at("2026-04-01"))).toBe("2026-03-15 to 2026-03-31");
    expect(columnTitle(null, at("2026-04-01"))).toBe("to 2026-03-31");
    expect(columnTitle(at("2026-11-01"), now)).toBe(`2026-11-01 to ${now}`);
  });

  it("is short on a narrow terminal where it goes up to the moment of asking", () => {
    const toDate = (from: string | null, step: "month" | "quarter" | "year" | null) =>
      shortColumnTitle(from, now, { step, isToDate: true });
    expect(toDate(null, "month")).toBe("to date");
    expect(toDate(at("2026-11-01"), "month")).toBe("2026-11 to date");
    expect(toDate(at("2026-10-01"), "quarter")).toBe("2026-Q4 to date");
    expect(toDate(at("2026-01-01"), "year")).toBe("2026 to date");
    expect(toDate(at("2026-11-05"), "month")).toBe("2026-11-05 to date");
    expect(toDate(at("2026-01-01"), null)).toBe("2026-01-01 to date");
  });

  it("is short on a narrow terminal where its bounds are given, and says a year once or not at all", () => {
    const cut = (from: string | null, to: string) =>
      shortColumnTitle(from, to, { step: "month", isToDate: false });
    expect(cut(at("2026-03-15"), at("2026-04-01"))).toBe("03-15 to 03-31");
    expect(cut(at("2026-12-15"), at("2027-01-01"))).toBe("12-15 to 12-31");
    expect(cut(at("2025-12-15"), at("2026-02-01"))).toBe("2025-12-15 to 2026-01-31");
    expect(cut(at("2026-11-01"), now)).toBe("11-01 to 11-24 20:13");
    expect(cut(null, now)).toBe("to 2026-11-24 20:13");
    expect(cut(at("2026-03-01"), at("2026-04-01"))).toBe("2026-03");
  });
});

// What the progress line says.
import { describe, expect, it, vi } from "vitest";
import { Output } from "../../../src/cli/terminal/output.ts";
import {
  describeProgress,
  describeShare,
  ProgressLine,
} from "../../../src/cli/terminal/progress-line.ts";

describe("the progress line", () => {
  it("tells count, rate, share and the time left", () => {
    expect(describeProgress({ handled: 5_000, elapsedMs: 2_000, share: 0.25 })).toBe(
      "[=====>              ] 5000 entries, 2500/s, 25 %, 0:06 left",
    );
    expect(describeProgress({ handled: 10, elapsedMs: 60_000, share: 0.01 })).toBe(
      "[>                   ] 10 entries, 0/s, 1 %, 1:39:00 left",
    );
    expect(describeProgress({ handled: 1, elapsedMs: 1_000, share: 0.5 })).toBe(
      "[==========>         ] 1 entry, 1/s, 50 %, 0:01 left",
    );
  });

  it("leaves out what nobody can know of a pipe, and before anything was read", () => {
    expect(describeProgress({ handled: 7, elapsedMs: 1_000, share: null })).toBe("7 entries, 7/s");
    expect(describeProgress({ handled: 1, elapsedMs: 1_000, share: null })).toBe("1 entry, 1/s");
    expect(describeProgress({ handled: 0, elapsedMs: 0, share: 0 })).toBe("0 entries, 0/s");
  });

  it("tells how many of all are done, how fast, and how long the rest takes", () => {
    const state = { total: 50_000, unit: "entries" };
    expect(describeShare({ ...state, done: 0, elapsedMs: 300 })).toBe(
      "[>                   ] 0 of 50000 entries",
    );
    expect(describeShare({ ...state, done: 12_500, elapsedMs: 5_000 })).toBe(
      "[=====>              ] 12500 of 50000 entries, 2500/s, 0:15 left",
    );
  });
});

describe("a message while the line is there", () => {
  it("does not stand behind it, and neither does the shell's prompt", () => {
    vi.useFakeTimers();
    const { stderr } = process;
    const { isTTY, columns } = stderr;
    let text = "";
    const write = vi.spyOn(stderr, "write").mockImplementation((part) => {
      text += String(part);
      return true;
    });
    try {
      Object.assign(stderr, { isTTY: true, columns: 80 });
      const line = new ProgressLine(true);
      line.tell(() => "[==>   ] 5 rows");
      vi.advanceTimersByTime(500);
      new Output({}, true).note("stopping");
      expect(text).toMatch(/5 rows\r {15}\rstopping\n$/);
      vi.advanceTimersByTime(500);
      process.emit("exit", 0);
      expect(text).toMatch(/5 rows\r {15}\r$/);
      vi.advanceTimersByTime(500);
      line.tell(() => "");
      vi.advanceTimersByTime(500);
      expect(text).toMatch(/5 rows\r {15}\r$/);
      line.end();
    } finally {
      Object.assign(stderr, { isTTY, columns });
      write.mockRestore();
      vi.useRealTimers();
    }
  });
});

// Figures by the second, their bars, and which part of a list is seen.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  lastSeconds,
  noActivity,
  ratePerSecond,
  withActivity,
  type Activity,
} from "../../../../src/cli/terminal/screen/activity.ts";
import { scrolledTo, scrollTarget } from "../../../../src/cli/terminal/screen/scrolling.ts";
import { sparkline } from "../../../../src/cli/terminal/screen/sparkline.ts";

const startMs = 1_700_000_000_000;

function activityAt(...seconds: number[]): Activity {
  return seconds.reduce((all, at) => withActivity(all, startMs + at * 1000), noActivity);
}

describe("activity", () => {
  test("counts by the second, the newest last, with zeros where nothing happened", () => {
    const activity = activityAt(0, 0.4, 2, 3, 3.1, 3.9);
    expect(lastSeconds(activity, startMs + 3_950, 5)).toEqual([0, 2, 0, 1, 3]);
    expect(lastSeconds(activity, startMs + 5_000, 5)).toEqual([0, 1, 3, 0, 0]);
    expect(lastSeconds(activity, startMs + 60_000, 3)).toEqual([0, 0, 0]);
    expect(lastSeconds(noActivity, startMs, 3)).toEqual([0, 0, 0]);
  });

  test("the rate is the mean of the last five whole seconds", () => {
    const activity = activityAt(0, 1, 1, 2, 2, 2, 5, 5);
    // The second that has just begun is left out.
    expect(ratePerSecond(activity, startMs + 5_500)).toBe(6 / 5);
    expect(ratePerSecond(activity, startMs + 6_000)).toBe(7 / 5);
    expect(ratePerSecond(activity, startMs + 11_000)).toBe(0);
  });

  test("a clock that is set back counts on, and loses nothing", () => {
    const activity = activityAt(5, 3, 4);
    expect(lastSeconds(activity, startMs + 5_000, 2)).toEqual([0, 3]);
    expect(lastSeconds(activity, startMs, 2)).toEqual([0, 3]);
  });

  test("agrees with counting all moments anew", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 100_000 }),
        (moments, length, laterMs) => {
          const sorted = moments.toSorted((a, b) => a - b);
          const activity = sorted.reduce((all, ms) => withActivity(all, ms), noActivity);
          const nowMs = (sorted.at(-1) ?? 0) + laterMs;
          const second = Math.floor(nowMs / 1000);
          const expected = Array.from({ length }, (_, index) => {
            const at = second - length + 1 + index;
            return sorted.filter((ms) => Math.floor(ms / 1000) === at).length;
          });
          expect(lastSeconds(activity, nowMs, length)).toEqual(expected);
        },
      ),
    );
  });
});

test("a sparkline has its highest bar for the greatest, and its lowest for zero alone", () => {
  expect(sparkline([0, 1, 100, 50])).toBe("▁▂█▅");
  expect(sparkline([0, 0])).toBe("▁▁");
  expect(sparkline([])).toBe("");
});

describe("scrolling", () => {
  test("moves as little as it takes to show what is chosen", () => {
    const top = { chosen: 0, from: 0 };
    expect(scrolledTo(top, 4, 10, 5)).toEqual({ chosen: 4, from: 0 });
    expect(scrolledTo(top, 5, 10, 5)).toEqual({ chosen: 5, from: 1 });
    expect(scrolledTo({ chosen: 9, from: 5 }, 6, 10, 5)).toEqual({ chosen: 6, from: 5 });
    expect(scrolledTo({ chosen: 9, from: 5 }, 2, 10, 5)).toEqual({ chosen: 2, from: 2 });
  });

  test("keeps what is chosen in sight whatever the list and the height", () => {
    const size = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(
        size,
        size,
        fc.integer({ min: -60, max: 60 }),
        size,
        fc.integer({ min: 1, max: 60 }),
        (chosen, from, target, length, height) => {
          const scroll = scrolledTo({ chosen, from }, target, length, height);
          expect(scroll.from).toBeGreaterThanOrEqual(0);
          expect(scroll.chosen).toBeGreaterThanOrEqual(scroll.from);
          expect(scroll.chosen).toBeLessThan(scroll.from + height);
          if (length > 0) expect(scroll.chosen).toBeLessThan(length);
          // No row of the screen is left empty while there is something to show in it.
          if (length >= height) expect(scroll.from).toBeLessThanOrEqual(length - height);
        },
      ),
    );
  });

  test("knows arrows, letters, pages and both ends", () => {
    const scroll = { chosen: 10, from: 8 };
    const keys = ["up", "k", "down", "j", "pageup", "pagedown", "home", "g", "end", "G", "x"];
    expect(keys.map((key) => scrollTarget(key, scroll, 50, 5))).toEqual([
      9,
      9,
      11,
      11,
      6,
      14,
      0,
      0,
      49,
      49,
      null,
    ]);
  });
});

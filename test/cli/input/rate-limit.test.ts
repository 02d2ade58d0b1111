// The rate limit of `serve`, as flag or variable.
import { expect, test } from "vitest";
import { readRateLimit } from "../../../src/cli/input/rate-limit.ts";

test.each([
  ["100/s", { perSecond: 100, burst: 100 }],
  ["1/s:1", { perSecond: 1, burst: 1 }],
  ["20/s:500", { perSecond: 20, burst: 500 }],
  ["9999999/s:9999999", { perSecond: 9_999_999, burst: 9_999_999 }],
])("%s is read", (text, limit) => {
  expect(readRateLimit("--rate-limit", text)).toEqual(limit);
});

test.each(["", "100", "0/s", "1.5/s", "-1/s", "100/m", "100/s:0", "100/s:", "10000000/s", "1/s "])(
  "%s is refused",
  (text) => {
    expect(() => readRateLimit("LEDGERCTL_RATE_LIMIT", text)).toThrow(
      "LEDGERCTL_RATE_LIMIT must be requests a second",
    );
  },
);

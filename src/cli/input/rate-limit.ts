// The rate limit of `serve`: `100/s`, or `100/s:500` with a burst.
import type { RateLimit } from "../../http/rate-limit.ts";
import { usageFailure } from "../failure.ts";

/** Reads a limit; without a burst, what comes in a second may be spent at once. `name` is the flag or variable. */
export function readRateLimit(name: string, text: string): RateLimit {
  const match = /^([1-9][0-9]{0,6})\/s(?::([1-9][0-9]{0,6}))?$/.exec(text);
  if (match === null) {
    throw usageFailure(
      `${name} must be requests a second, such as 100/s, or with a burst 100/s:500 (each from 1 to 9999999), ` +
        `not ${text}`,
    );
  }
  const perSecond = Number(match[1]);
  return { perSecond, burst: match[2] === undefined ? perSecond : Number(match[2]) };
}

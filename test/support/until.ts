// Waiting for what tells nobody when it comes: another process, a database, the far end of a socket. Where there is an
// event, a test waits for that instead.
import { setTimeout as sleep } from "node:timers/promises";

/** Long enough for any machine; who waits for it has failed. */
const deadlineMs = 45_000;
/** A look may cost a connection or a process: the longer it takes, the less often. */
const intervalMs = { first: 10, longest: 100 };

/** Looks until it finds something, and resolves with that; throws after 45 s, saying what it waited for. */
export async function until<Found>(
  what: string,
  look: () => Found | Promise<Found>,
): Promise<Exclude<Found, false | 0 | null | undefined>> {
  const untilMs = performance.now() + deadlineMs;
  for (let pauseMs = intervalMs.first; ; pauseMs = Math.min(2 * pauseMs, intervalMs.longest)) {
    const found = await look();
    if (found) return found as Exclude<Found, false | 0 | null | undefined>;
    if (performance.now() > untilMs) throw new Error(`waited ${deadlineMs / 1000} s for: ${what}`);
    await sleep(pauseMs);
  }
}

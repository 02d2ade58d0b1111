// Doing something again and again in the background, one at a time.
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Begins at once, or with `waitsFirst` after an interval. `act` deals with its own failures, and resolves with true
 * where there is nothing left to do. Returns what ends it, which resolves when what is under way is over.
 */
export function repeat(
  intervalMs: number,
  act: () => Promise<unknown>,
  { waitsFirst = false } = {},
): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const pause = () => sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
  const run = async () => {
    if (waitsFirst) await pause();
    while (!signal.aborted) {
      if ((await act()) === true) return;
      await pause();
    }
  };
  const ran = run();
  return () => {
    stopped.abort();
    return ran;
  };
}

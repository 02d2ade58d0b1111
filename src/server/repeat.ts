// Doing something again and again in the background, one at a time.
import { setTimeout as sleep } from "node:timers/promises";

/** Begins at once. `act` deals with its own failures. Returns what ends it, which does not wait for what is under way. */
export function repeat(intervalMs: number, act: () => Promise<void>): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async () => {
    while (!signal.aborted) {
      await act();
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  void run();
  return () => {
    stopped.abort();
  };
}

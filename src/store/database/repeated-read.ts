// Reading again over connections that break.
import { setTimeout as sleep } from "node:timers/promises";
import { isConnectionLost } from "./errors.ts";

const repeatedMsMax = 1_000;
const pauseMs = 20;

/**
 * Reads again where a connection breaks, for up to a second. Those that idled when a database or a pooler let them go
 * break one after another, each at its next use. For reads only: what broke in a write may have been done.
 */
export async function repeatRead<Result>(read: () => Promise<Result>): Promise<Result> {
  const untilMs = performance.now() + repeatedMsMax;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() >= untilMs) throw error;
      await sleep(pauseMs);
    }
  }
}

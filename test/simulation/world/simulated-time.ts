// Puts simulated time and seeded randomness in the place of the process's own, for all code in it. Only a
// process that does nothing else may do so: `scripts/simulate.js` starts one.
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { SeededRandom } from "../../../src/seed/seeded-random.ts";
import type { Scheduler, Task } from "./scheduler.ts";

interface Time {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
}

/** 2026-03-10T12:00:00Z: where the clocks of every history begin. */
export const startEpochMs = Date.UTC(2026, 2, 10, 12);
/** What a tick of the event loop takes at least. */
const tickMs = 0.02;

let current: Time | null = null;

/** The time of the history that runs. */
function time(): Time {
  if (current === null) throw new Error("no history runs");
  return current;
}

/** Makes a history's scheduler and randomness those of the process. */
export function useTime(scheduler: Scheduler, random: SeededRandom): void {
  current = { scheduler, random };
}

/** A new id, in the place of src/engine/new-id.ts. */
export function newId(): string {
  return time().random.id(Date.now());
}

function later(run: () => void, delayMs: number): Task {
  return time().scheduler.after(delayMs, run);
}

/** Replaces the timers, clocks and randomness of this process. */
export function installSimulatedTime(): void {
  const sleep = (delayMs = 0) =>
    new Promise<void>((resolve) => {
      later(resolve, Math.max(tickMs, delayMs));
    });
  Object.assign(globalThis, {
    setTimeout: (run: () => void, delayMs = 0) => later(run, Math.max(tickMs, delayMs)),
    clearTimeout: (task: Task | null | undefined) => task?.cancel(),
    setImmediate: (run: () => void) => later(run, tickMs),
  });
  Object.assign(timersPromises, { setTimeout: sleep, setImmediate: () => sleep() });
  syncBuiltinESMExports();
  Date.now = () => startEpochMs + Math.floor(time().scheduler.nowMs);
  performance.now = () => time().scheduler.nowMs;
  Math.random = () => time().random.below(2 ** 32) / 2 ** 32;
}

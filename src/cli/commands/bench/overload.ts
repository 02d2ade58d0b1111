// `bench overload`: how much of the rate that a service sustains is left when a multiple of it is sent.
import type { Load, LoadSettings } from "./load.ts";
import type { BenchSettings } from "./settings.ts";

/** Acknowledged requests a second. */
export interface OverloadFigures {
  readonly sustainedBefore: number;
  /** Of those that were answered before the last request was due. */
  readonly overloaded: number;
  readonly sustainedAfter: number;
  /** `overloaded` to `sustainedBefore`. */
  readonly kept: number;
}

const sustained: LoadSettings = { rate: null, connections: 256, durationMs: 5_000 };

/** Measures the sustained rate, sends `factor` times as much, and measures again; `load` is the overload. */
export async function runOverload(
  settings: BenchSettings,
  runLoad: (settings: LoadSettings) => Promise<Load>,
): Promise<{ load: Load; overload: OverloadFigures }> {
  const before = Math.round((await runLoad(sustained)).perSecond);
  const rate = Math.max(1, before * settings.factor);
  const load = await runLoad({ ...settings, rate, isLateDropped: true });
  const after = Math.round((await runLoad(sustained)).perSecond);
  const overloaded = Math.round((load.acknowledgedInTime * 1000) / settings.durationMs);
  const kept = Math.round((100 * overloaded) / before) / 100;
  const overload = { sustainedBefore: before, overloaded, sustainedAfter: after, kept };
  return { load, overload };
}

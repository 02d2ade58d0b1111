// `bench overload`: how much of the rate that a service sustains is left when a multiple of it is sent.
import type { Environment } from "../../../config.ts";
import type { ExitCode } from "../../failure.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { readLoadSettings, readWalletCount, type LoadFlags } from "./load-flags.ts";
import type { LoadSettings } from "./load.ts";
import { measure, type RunLoad } from "./measure.ts";
import type { Measured } from "./report.ts";
import { prepareWallets } from "./wallets.ts";

export interface OverloadFlags extends LoadFlags {
  wallets: string;
  factor: string;
}

const sustainedMsMax = 5_000;

export async function benchOverload(
  flags: OverloadFlags,
  environment: Environment,
): Promise<ExitCode> {
  const settings = readLoadSettings(flags);
  const walletCount = readWalletCount(flags.wallets);
  const factor = requireWholeNumber("--factor", flags.factor, 1, 100);
  return measure("overload", flags, environment, {
    prepare: (bench) => prepareWallets(bench, { walletCount }),
    load: (runLoad) => overload(settings, factor, runLoad),
  });
}

/** Measures the sustained rate, sends `factor` times as much, and measures again; `load` is the overload. */
async function overload(
  settings: LoadSettings,
  factor: number,
  runLoad: RunLoad,
): Promise<Measured> {
  const durationMs = Math.min(settings.durationMs, sustainedMsMax);
  const sustained: LoadSettings = { rate: null, connections: 256, durationMs };
  const before = Math.round((await runLoad(sustained)).perSecond);
  const rate = Math.max(1, before * factor);
  const load = await runLoad({ ...settings, rate, isLateDropped: true });
  const after = Math.round((await runLoad(sustained)).perSecond);
  const overloaded = Math.round((load.acknowledgedInTime * 1000) / settings.durationMs);
  const kept = Math.round((100 * overloaded) / before) / 100;
  return {
    load,
    overload: { sustainedBefore: before, overloaded, sustainedAfter: after, kept },
  };
}

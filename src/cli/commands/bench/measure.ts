// What `bench wallets`, `transfers`, `entries`, `streams` and `overload` have in common: prepare, load, verify, report.
import type { Environment } from "../../../config.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import { counted } from "../../terminal/counted.ts";
import { printable } from "../../terminal/printable.ts";
import { readServerPid, type WatchFlags } from "./load-flags.ts";
import { Load, type LoadSettings } from "./load.ts";
import { withBench, type Bench } from "./open-bench.ts";
import { OutcomeLog } from "./outcome-log.ts";
import { describeReport, reportOf, type BenchReport, type Measured } from "./report.ts";
import { watchServerMemory } from "./server-memory.ts";
import { SignedRequests } from "./signed-requests.ts";
import type { Workload } from "./workload.ts";

/** What a service and a connection to it are expected to do at most, in requests a second. */
const perSecondMax = 40_000;
const perConnectionMax = 1_500;
const firstErrorLengthMax = 400;

export type RunLoad = (settings: LoadSettings) => Promise<Load>;

interface Steps {
  /** Makes what is written to; nothing is measured yet. */
  readonly prepare: (bench: Bench) => Promise<Workload>;
  readonly load: (runLoad: RunLoad) => Promise<Measured>;
}

export async function measure(
  bench: BenchReport["bench"],
  flags: WatchFlags,
  environment: Environment,
  steps: Steps,
): Promise<ExitCode> {
  const serverPid = readServerPid(flags);
  return withBench(flags, environment, async (context) => {
    const { output } = context;
    const workload = await steps.prepare(context);
    const { outcomes, runLoad } = prepareLoads(workload, context);
    const memory = watchServerMemory(serverPid);
    const measured = await steps.load(runLoad);
    const serverMemoryMib = memory();
    const { firstError } = measured.load;
    if (firstError !== null) {
      output.note(`the first error: ${printable(firstError).slice(0, firstErrorLengthMax)}`);
    }
    const verdict = await workload.verify(outcomes);
    const report = reportOf(bench, context, workload, measured, verdict, serverMemoryMib);
    output.result(report, (made) => output.judged(describeReport(made)));
    if (!report.verification.ok) return exitCodes.verificationFailed;
    // Nothing was lost where nothing was taken; that is no success.
    return report.acknowledged === 0 ? exitCodes.failed : exitCodes.done;
  });
}

/** A function that sends a workload's requests, each time those that come next, and what became of all of them. */
export function prepareLoads(
  workload: Workload,
  { connection, progress }: Pick<Bench, "connection" | "progress">,
): { outcomes: OutcomeLog; runLoad: RunLoad } {
  const outcomes = new OutcomeLog(workload.writesPerRequest);
  const requests = new SignedRequests(connection, workload.request);
  const url = new URL(connection.url);
  const runLoad = async (settings: LoadSettings) => {
    requests.prepare(expectedRequests(settings, workload));
    const load = new Load(settings, { url, requests, outcomes, workload });
    progress.tell(() => describeLoad(load));
    await load.run();
    return load;
  };
  return { outcomes, runLoad };
}

/** How many requests will be sent, more rather than fewer: they are signed beforehand. */
function expectedRequests(
  { rate, connections, durationMs }: LoadSettings,
  { writesPerRequest }: Workload,
): number {
  const perSecond = Math.min(rate ?? Infinity, perSecondMax, connections * perConnectionMax);
  return Math.ceil((perSecond * durationMs) / 1000 / Math.max(1, writesPerRequest));
}

function describeLoad(load: Load): string {
  const seconds = Math.floor(load.elapsedMs / 1000);
  return [
    `${seconds} s of ${load.settings.durationMs / 1000} s`,
    counted(load.acknowledged, "request"),
    `${Math.round(load.perSecond)}/s`,
    counted(load.errorCount, "error"),
  ].join(", ");
}

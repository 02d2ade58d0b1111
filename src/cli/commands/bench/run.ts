// `bench wallets`, `entries`, `streams` and `overload`: prepares, loads, verifies, reports.
import type { Environment } from "../../../config.ts";
import { counted } from "../../terminal/counted.ts";
import { exitCodes } from "../../failure.ts";
import { printable } from "../../terminal/printable.ts";
import { prepareEntries } from "./entries-workload.ts";
import { Load, type LoadSettings } from "./load.ts";
import { withBench, type Bench, type WorkloadBench } from "./open-bench.ts";
import { OutcomeLog } from "./outcome-log.ts";
import { runOverload } from "./overload.ts";
import { describeReport, reportOf, type BenchReport } from "./report.ts";
import { watchServerMemory } from "./server-memory.ts";
import {
  readSettings,
  type BenchFlags,
  type BenchKind,
  type BenchSettings,
  type WorkloadSettings,
} from "./settings.ts";
import { SignedRequests } from "./signed-requests.ts";
import { prepareStreams } from "./streams-workload.ts";
import { prepareWallets } from "./wallets-workload.ts";
import type { Workload } from "./workload.ts";

/** What a service and a connection to it are expected to do at most, in requests a second. */
const perSecondMax = 20_000;
const perConnectionMax = 1_500;
const firstErrorLengthMax = 400;

export async function runBench(
  kind: BenchKind,
  flags: BenchFlags,
  environment: Environment,
): Promise<number> {
  const settings = readSettings(flags);
  return withBench(flags, environment, async (bench) => {
    const report = await measure(kind, settings, bench);
    bench.output.result(report, describeReport);
    if (!report.verification.ok) return exitCodes.verificationFailed;
    // Nothing was lost where nothing was taken; that is no success.
    return report.acknowledged === 0 ? exitCodes.failed : exitCodes.done;
  });
}

/** What is needed to load a service: wallets are funded, nothing is measured yet. */
export async function prepareLoads(
  kind: BenchKind,
  settings: WorkloadSettings,
  bench: WorkloadBench & Pick<Bench, "progress">,
): Promise<{
  workload: Workload;
  outcomes: OutcomeLog;
  runLoad: (settings: LoadSettings) => Promise<Load>;
}> {
  const { connection, progress } = bench;
  const workload = await prepareWorkload(kind, settings, bench);
  const outcomes = new OutcomeLog(workload.writesPerRequest);
  const requests = new SignedRequests(connection, workload.request);
  const runLoad = async (loadSettings: LoadSettings) => {
    requests.prepare(expectedRequests(loadSettings, workload));
    const sent = { requests, outcomes, acknowledged: workload.acknowledged };
    const load = new Load(loadSettings, new URL(connection.url), sent);
    progress.tell(() => describeLoad(load));
    await load.run();
    return load;
  };
  return { workload, outcomes, runLoad };
}

function prepareWorkload(
  kind: BenchKind,
  settings: WorkloadSettings,
  bench: WorkloadBench,
): Promise<Workload> {
  if (kind === "entries") return prepareEntries(bench, settings);
  return kind === "streams" ? prepareStreams(bench, settings) : prepareWallets(bench, settings);
}

/** How many requests will be sent, more rather than fewer: they are signed beforehand. */
function expectedRequests(
  { rate, connections, durationMs }: LoadSettings,
  { writesPerRequest }: Workload,
): number {
  const perSecond = Math.min(rate ?? Infinity, perSecondMax, connections * perConnectionMax);
  return Math.ceil((perSecond * durationMs) / 1000 / Math.max(1, writesPerRequest));
}

async function measure(
  kind: BenchKind,
  settings: BenchSettings,
  bench: Bench,
): Promise<BenchReport> {
  const { output, progress } = bench;
  const { workload, outcomes, runLoad } = await prepareLoads(kind, settings, bench);
  const memory = settings.serverPid === null ? null : watchServerMemory(settings.serverPid);
  const { load, overload } =
    kind === "overload"
      ? await runOverload(settings, runLoad)
      : { load: await runLoad(settings), overload: undefined };
  const serverMemoryMib = memory?.();
  if (load.firstError !== null) {
    output.note(`the first error: ${printable(load.firstError).slice(0, firstErrorLengthMax)}`);
  }
  const verdict = await workload.verify(outcomes, (describe) => {
    progress.tell(describe);
  });
  const facts = { bench: kind, ledgerId: bench.ledger.id, run: bench.run, ...workload.described };
  return reportOf(facts, workload, { load, verdict, overload, serverMemoryMib });
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

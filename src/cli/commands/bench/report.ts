// What a benchmark reports in the end.
import { counted } from "../../terminal/counted.ts";
import type { Check } from "./findings.ts";
import type { Load } from "./load.ts";
import type { OverloadFigures } from "./overload.ts";
import { describePercentiles, type Percentiles } from "./percentiles.ts";
import type { ServerMemory } from "./server-memory.ts";
import type { BenchKind } from "./settings.ts";
import type { Verdict, Workload } from "./workload.ts";

export interface BenchReport {
  readonly bench: BenchKind;
  readonly ledgerId: string;
  /** In every externalId of this run: `bench-{run}-{number}`. */
  readonly run: string;
  readonly connections: number;
  readonly rate: number | null;
  readonly durationSeconds: number;
  readonly acknowledged: number;
  readonly requestsPerSecond: number;
  /** Of bulks. */
  readonly writesPerSecond?: number;
  /** By HTTP status, and `no answer`. */
  readonly errors: Readonly<Record<string, number>>;
  readonly unsent: number;
  readonly latencyMs: Readonly<Record<"p50" | "p90" | "p99" | "p99.9" | "max", number>>;
  readonly messagesAfterReplyMs?: Percentiles;
  readonly overload?: OverloadFigures;
  readonly serverMemoryMib?: ServerMemory;
  readonly verification: Verdict & { readonly ok: boolean };
}

export function reportOf(
  facts: Pick<BenchReport, "bench" | "ledgerId" | "run">,
  { writesPerRequest }: Workload,
  measured: {
    load: Load;
    verdict: Verdict;
    overload: OverloadFigures | undefined;
    serverMemoryMib: ServerMemory | undefined;
  },
): BenchReport {
  const { load, overload, serverMemoryMib } = measured;
  const { messagesAfterReplyMs, ...verdict } = measured.verdict;
  const { connections, rate, durationMs } = load.settings;
  const percentile = (share: number) =>
    load.acknowledged === 0 ? 0 : load.latencies.percentile(100 * share) / 1000;
  return {
    ...facts,
    connections,
    rate,
    durationSeconds: durationMs / 1000,
    acknowledged: load.acknowledged,
    requestsPerSecond: round(load.perSecond),
    ...(writesPerRequest > 1 && { writesPerSecond: round(load.perSecond * writesPerRequest) }),
    errors: Object.fromEntries(load.errors),
    unsent: load.unsent,
    latencyMs: {
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
      "p99.9": percentile(0.999),
      max: percentile(1),
    },
    ...(messagesAfterReplyMs && { messagesAfterReplyMs }),
    ...(overload && { overload }),
    ...(serverMemoryMib && { serverMemoryMib }),
    verification: { ok: verdict.checks.every(({ ok }) => ok), ...verdict },
  };
}

export function describeReport(report: BenchReport): string {
  const { acknowledged, requestsPerSecond, writesPerSecond, latencyMs, rate } = report;
  const { overload, messagesAfterReplyMs, serverMemoryMib } = report;
  const errors = Object.entries(report.errors).map(([status, count]) => `${count} × ${status}`);
  const latencies = Object.entries(latencyMs).map(([name, value]) => `${name} ${value} ms`);
  const lines = {
    load: `${rate === null ? "full speed" : `${rate}/s`} for ${report.durationSeconds} s on ${counted(report.connections, "connection")}`,
    acknowledged:
      `${acknowledged}, ${requestsPerSecond}/s` +
      (writesPerSecond === undefined ? "" : ` (${writesPerSecond} writes/s)`),
    errors: errors.length === 0 ? "none" : errors.join(", "),
    ...(report.unsent > 0 && { "never sent": `${report.unsent}: the service was too slow` }),
    latency: latencies.join(", "),
    ...(messagesAfterReplyMs && {
      messages: `${describePercentiles(messagesAfterReplyMs)} after the reply`,
    }),
    ...(overload && {
      overload: `${overload.overloaded}/s, ${overload.kept} of ${overload.sustainedBefore}/s before, ${overload.sustainedAfter}/s after`,
    }),
    ...(serverMemoryMib && { memory: describeMemory(serverMemoryMib) }),
  };
  return [...Object.entries(lines).map(describeLine), ...describeVerification(report)].join("\n");
}

export function describeLine([name, text]: [name: string, text: string]): string {
  return `${name.padEnd(12)}  ${text}`;
}

export function describeMemory({ start, end, max }: ServerMemory): string {
  return `${start} MiB at the start, ${end} MiB at the end, ${max} MiB at most`;
}

export function describeVerification({
  verification,
}: Pick<BenchReport, "verification">): string[] {
  return [
    describeLine(["verification", verification.ok ? "ok" : "FAILED"]),
    ...verification.checks.flatMap(describeCheck),
    ...verification.notChecked.map((text) => `  not checked: ${text}`),
  ];
}

function describeCheck({ name, ok, checked, findings }: Check): string[] {
  return [
    `  ${ok ? "ok    " : "FAILED"}  ${name} (${checked})`,
    ...findings.map((finding) => `          ${finding}`),
  ];
}

function round(perSecond: number): number {
  return Math.round(perSecond * 10) / 10;
}

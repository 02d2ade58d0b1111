// What a benchmark tells in the end.
import { counted } from "../../terminal/counted.ts";
import type { Check } from "./findings.ts";
import type { Load } from "./load.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import type { BenchKind, BenchSettings } from "./settings.ts";
import type { Verdict } from "./workload.ts";

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
  /** By HTTP status, and `no answer`. */
  readonly errors: Readonly<Record<string, number>>;
  readonly unsent: number;
  readonly latencyMs: Readonly<Record<"p50" | "p90" | "p99" | "p99.9" | "max", number>>;
  readonly verification: Verdict & { readonly ok: boolean };
}

export function reportOf(
  facts: { bench: BenchKind; ledgerId: string; run: string; described: object },
  settings: BenchSettings,
  measured: { load: Load; outcomes: OutcomeLog; verdict: Verdict },
): BenchReport {
  const { described, ...identity } = facts;
  const { load, outcomes, verdict } = measured;
  const percentile = (share: number) => milliseconds(load.latencies.percentile(share));
  return {
    ...identity,
    ...described,
    connections: settings.connections,
    rate: settings.rate,
    durationSeconds: settings.durationMs / 1000,
    acknowledged: outcomes.acknowledged,
    requestsPerSecond: Math.round(load.perSecond * 10) / 10,
    errors: Object.fromEntries(load.errors),
    unsent: load.unsent,
    latencyMs: {
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
      "p99.9": percentile(0.999),
      max: milliseconds(load.latencies.max),
    },
    verification: { ok: verdict.checks.every(({ ok }) => ok), ...verdict },
  };
}

export function describeReport(report: BenchReport): string {
  const { acknowledged, requestsPerSecond, latencyMs, rate, verification } = report;
  const errors = Object.entries(report.errors).map(([status, count]) => `${count} × ${status}`);
  const latencies = Object.entries(latencyMs).map(([name, value]) => `${name} ${value} ms`);
  return [
    `load          ${rate === null ? "full speed" : `${rate}/s`} for ${report.durationSeconds} s on ${counted(report.connections, "connection")}`,
    `acknowledged  ${acknowledged}, ${requestsPerSecond}/s`,
    `errors        ${errors.length === 0 ? "none" : errors.join(", ")}`,
    ...(report.unsent === 0 ? [] : [`never sent    ${report.unsent}: the service was too slow`]),
    `latency       ${latencies.join(", ")}`,
    `verification  ${verification.ok ? "ok" : "FAILED"}`,
    ...verification.checks.flatMap(describeCheck),
    ...verification.notChecked.map((text) => `  not checked: ${text}`),
  ].join("\n");
}

function describeCheck({ name, ok, checked, findings }: Check): string[] {
  return [
    `  ${ok ? "ok    " : "FAILED"}  ${name} (${checked})`,
    ...findings.map((finding) => `          ${finding}`),
  ];
}

/** From microseconds; their fractions are noise. */
function milliseconds(microseconds: number): number {
  return microseconds / 1000;
}

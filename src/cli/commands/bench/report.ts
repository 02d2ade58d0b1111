// What a benchmark reports in the end.
import { counted } from "../../terminal/counted.ts";
import type { Check } from "./findings.ts";
import type { Load } from "./load.ts";
import type { BenchLedger } from "./open-bench.ts";
import { describePercentiles } from "./percentiles.ts";
import type { ServerMemory } from "./server-memory.ts";
import type { Verdict, Workload } from "./workload.ts";

export interface Measured {
  readonly load: Load;
  readonly overload?: OverloadFigures;
}

/** Acknowledged requests a second. */
interface OverloadFigures {
  readonly sustainedBefore: number;
  /** Of those that were answered before the last request was due. */
  readonly overloaded: number;
  readonly sustainedAfter: number;
  /** `overloaded` to `sustainedBefore`. */
  readonly kept: number;
}

export type BenchReport = ReturnType<typeof reportOf>;

/** `bench` is the verb that measured. */
export function reportOf(
  bench: "entries" | "wallets" | "streams" | "overload",
  { ledger, run }: BenchLedger,
  { described, writesPerRequest }: Workload,
  { load, overload }: Measured,
  { messagesAfterReplyMs, ...verdict }: Verdict,
  serverMemoryMib: ServerMemory | null,
) {
  const { connections, rate, durationMs } = load.settings;
  return {
    bench,
    ledgerId: ledger.id,
    run,
    ...described,
    connections,
    rate,
    durationSeconds: durationMs / 1000,
    acknowledged: load.acknowledged,
    requestsPerSecond: round(load.perSecond),
    // Of bulks.
    ...(writesPerRequest > 1 && { writesPerSecond: round(load.perSecond * writesPerRequest) }),
    // By HTTP status, and `no answer`.
    errors: Object.fromEntries(load.errors),
    unsent: load.unsent,
    latencyMs: load.latencyMs,
    ...(messagesAfterReplyMs && { messagesAfterReplyMs }),
    ...(overload && { overload }),
    ...(serverMemoryMib && { serverMemoryMib }),
    verification: withOk(verdict),
  };
}

/** A verdict with whether all of its checks found nothing. */
export function withOk<Given extends Verdict>(verdict: Given) {
  return { ok: verdict.checks.every(({ ok }) => ok), ...verdict };
}

export function describeReport(report: BenchReport): string {
  const { acknowledged, requestsPerSecond, writesPerSecond, rate } = report;
  const { overload, messagesAfterReplyMs, serverMemoryMib } = report;
  const errors = Object.entries(report.errors).map(([status, count]) => `${count} × ${status}`);
  const lines = {
    load: `${rate === null ? "full speed" : `${rate}/s`} for ${report.durationSeconds} s on ${counted(report.connections, "connection")}`,
    acknowledged:
      `${acknowledged}, ${requestsPerSecond}/s` +
      (writesPerSecond === undefined ? "" : ` (${writesPerSecond} writes/s)`),
    errors: errors.length === 0 ? "none" : errors.join(", "),
    ...(report.unsent > 0 && { "never sent": `${report.unsent}: the service was too slow` }),
    latency: describePercentiles(report.latencyMs),
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
}: {
  verification: Verdict & { ok: boolean };
}): string[] {
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

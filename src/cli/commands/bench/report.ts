// What a benchmark reports in the end.
import { counted } from "../../terminal/counted.ts";
import type { Check } from "./findings.ts";
import type { Load } from "./load.ts";
import type { BenchLedger } from "./open-bench.ts";
import { describePercentiles, type Percentiles } from "./percentiles.ts";
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

/** The document of `--json` (docs/cli.md). What the workload says of itself, such as its wallets, comes besides. */
export interface BenchReport {
  /** The verb that measured. */
  readonly bench: "entries" | "wallets" | "transfers" | "streams" | "overload";
  readonly ledgerId: string;
  /** In every externalId of this run: `bench-{run}-{number}`. */
  readonly run: string;
  readonly connections: number;
  /** Requests a second; null: as many as the service takes. */
  readonly rate: number | null;
  readonly durationSeconds: number;
  /** Requests. */
  readonly acknowledged: number;
  readonly requestsPerSecond: number;
  /** Of bulks. */
  readonly writesPerSecond?: number;
  /** By HTTP status, and `no answer`. */
  readonly errors: Readonly<Record<string, number>>;
  /** Were due, but no connection was free for them in time. */
  readonly unsent: number;
  readonly latencyMs: Readonly<Record<"p50" | "p90" | "p99" | "p99.9" | "max", number>>;
  /** Of `bench streams`. */
  readonly messagesAfterReplyMs?: Percentiles;
  /** Of `bench overload`. */
  readonly overload?: OverloadFigures;
  /** With `--server-pid`. */
  readonly serverMemoryMib?: ServerMemory;
  readonly verification: Omit<Verdict, "messagesAfterReplyMs"> & { readonly ok: boolean };
}

export function reportOf(
  bench: BenchReport["bench"],
  { ledger, run }: BenchLedger,
  { described, writesPerRequest }: Workload,
  { load, overload }: Measured,
  { messagesAfterReplyMs, ...verdict }: Verdict,
  serverMemoryMib: ServerMemory | null,
): BenchReport {
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
    ...(writesPerRequest > 1 && { writesPerSecond: round(load.perSecond * writesPerRequest) }),
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

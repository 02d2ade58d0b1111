// What a benchmark sends, and how it is found again. Requests have the numbers 1, 2, 3 …, and so have the
// writes in them, which is what externalIds carry.
import type { Check } from "./findings.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import type { Percentiles } from "./percentiles.ts";

export interface BenchRequest {
  readonly method: "GET" | "POST";
  readonly target: string;
  /** Empty with GET. */
  readonly body: string;
}

export interface Workload {
  /** What the report says of it. */
  readonly described: object;
  /** 0 for reads. */
  readonly writesPerRequest: number;
  /** The same number always gives the same request. */
  readonly request: (number: number) => BenchRequest;
  /** Called with each request that was acknowledged; `atMs` is on the clock of performance.now(). */
  readonly acknowledged?: (number: number, atMs: number) => void;
  /** Looks through the API for what was acknowledged. */
  readonly verify: (outcomes: OutcomeLog) => Promise<Verdict>;
}

export interface Verdict {
  readonly checks: readonly Check[];
  /** What could not be told, and why. */
  readonly notChecked: readonly string[];
  /** Of `bench streams`: from a write's reply to its message; below zero, the message came first. */
  readonly messagesAfterReplyMs?: Percentiles;
}

/** The externalId of a write. */
export function externalIdOf(run: string, number: number): string {
  return `bench-${run}-${number}`;
}

/** The number in an externalId of this run; null for any other text. */
export function numberOf(run: string, externalId: string | null): number | null {
  const prefix = `bench-${run}-`;
  if (externalId?.startsWith(prefix) !== true) return null;
  const digits = externalId.slice(prefix.length);
  return /^[1-9][0-9]{0,14}$/.test(digits) ? Number(digits) : null;
}

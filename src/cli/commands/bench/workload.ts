// What a benchmark sends, and how it is found again. Requests have the numbers 1, 2, 3 …, which their
// externalIds carry.
import type { Check } from "./findings.ts";
import type { OutcomeLog } from "./outcome-log.ts";

export interface BenchRequest {
  readonly method: "GET" | "POST";
  readonly target: string;
  /** Empty where there is none. */
  readonly body: string;
}

export interface Workload {
  /** What of it stands in the report. */
  readonly described: Readonly<Record<string, unknown>>;
  /** The same number always gives the same request. */
  readonly request: (number: number) => BenchRequest;
  /** Looks through the API for what was acknowledged; `tell` hears how far it has come. */
  readonly verify: (
    outcomes: OutcomeLog,
    tell: (progress: () => string) => void,
  ) => Promise<Verdict>;
}

export interface Verdict {
  readonly checks: readonly Check[];
  /** What could not be told, and why. */
  readonly notChecked: readonly string[];
}

/** The externalId of a request. */
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

// The percentiles of a few latencies, kept one by one; those of a load are in a histogram.

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Of milliseconds, which may be negative; zeros of none. */
export function percentilesOf(milliseconds: readonly number[]): Percentiles {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return Math.round(value * 100) / 100;
  };
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function describePercentiles({ p50, p99, max }: Percentiles): string {
  return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
}

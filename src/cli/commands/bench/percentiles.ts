// Percentiles of a few latencies, kept one by one; those of a load are in a histogram (load.ts).

export type Percentiles = ReturnType<typeof percentilesOf>;

/** Of milliseconds, which may be negative; zeros of none. */
export function percentilesOf(milliseconds: readonly number[]) {
  const sorted = Float64Array.from(milliseconds).sort();
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return Math.round(value * 1000) / 1000;
  };
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function describePercentiles(percentiles: Percentiles): string {
  return Object.entries(percentiles)
    .map(([name, value]) => `${name} ${value} ms`)
    .join(", ");
}

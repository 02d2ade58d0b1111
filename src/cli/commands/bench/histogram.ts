// A histogram of latencies after HdrHistogram: counts in buckets that are a thousandth of their value
// wide, so that percentiles of any number of values fit into a fixed few hundred kilobytes.

/** Values below this have a bucket each; above, every doubling is cut into half as many. */
const linearMax = 2_048;
const perDoubling = linearMax / 2;
/** Up to 2^41, which in microseconds is 25 days. */
const doublings = 30;

export class Histogram {
  readonly #counts = new Float64Array(linearMax + perDoubling * doublings);
  #count = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get max(): number {
    return this.#max;
  }

  /** Counts a value of 0 or more; fractions are cut off. */
  record(value: number): void {
    const whole = Math.max(0, Math.floor(value));
    const bucket = Math.min(bucketOf(whole), this.#counts.length - 1);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#max = Math.max(this.#max, whole);
  }

  /** The least value that a share (0 to 1) of all values does not exceed, to a thousandth; 0 without values. */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= rank) return Math.min(highestOf(bucket), this.#max);
    }
    return this.#max;
  }
}

function bucketOf(value: number): number {
  if (value < linearMax) return value;
  const doubling = Math.floor(Math.log2(value / linearMax)) + 1;
  return doubling * perDoubling + Math.floor(value / 2 ** doubling);
}

/** The greatest value that a bucket counts. */
function highestOf(bucket: number): number {
  if (bucket < linearMax) return bucket;
  const doubling = Math.floor(bucket / perDoubling) - 1;
  return (bucket - doubling * perDoubling + 1) * 2 ** doubling - 1;
}

// Whether figures stay the same from minute to minute: the last third of a soak is compared with the one before it. The first
// third is left out: caches fill, and compilers work.

export interface Flatness {
  readonly what: string;
  /** The medians of the second and of the last third. */
  readonly before: number;
  readonly after: number;
  readonly isFlat: boolean;
}

/** A fifth more is no growth yet, and neither are so many units more. */
const growthMax = 1.2;

/** `figures` has a figure for each minute, of at least three. */
export function flatnessOf(what: string, figures: readonly number[], unitsMore: number): Flatness {
  const third = Math.floor(figures.length / 3);
  const before = median(figures.slice(-2 * third, -third));
  const after = median(figures.slice(-third));
  return { what, before, after, isFlat: after <= Math.max(before * growthMax, before + unitsMore) };
}

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

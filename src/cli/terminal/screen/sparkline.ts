// A row of figures as a row of little bars.

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A bar each: the lowest for zero alone, the highest for the greatest. */
export function sparkline(values: readonly number[]): string {
  const greatest = Math.max(...values, 0);
  return values
    .map((value) => {
      if (value <= 0) return bars[0];
      return bars[Math.max(1, Math.round((value / greatest) * (bars.length - 1)))];
    })
    .join("");
}

// Rows of the tables that benchmarks print, and the medians in them.

const nameWidth = 34;
const cellWidth = 16;

/** Prints a row in Markdown; the first cell is a name. */
export function printRow([name, ...cells]) {
  const padded = cells.map((cell) => cell.padStart(cellWidth)).join(" | ");
  console.log(`| ${name.padEnd(nameWidth)} | ${padded} |`);
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The figure of a load: a rate, or with `unit: "ms"` a latency. */
export function formatFigure({ unit }, figure) {
  return unit === "ms" ? `${figure.toFixed(2)} ms` : `${Math.round(figure).toLocaleString("en")}/s`;
}

/**
 * The row of a load that two sides had in turn: the median figure of each, and of the rounds' ratios (above 1, the second side is
 * the faster one) the median, the least and the greatest.
 */
export function comparison(load, { figures, ratios }) {
  return [
    load.name,
    ...figures.map((ofOne) => formatFigure(load, median(ofOne))),
    median(ratios).toFixed(3),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  ];
}

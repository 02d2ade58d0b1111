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

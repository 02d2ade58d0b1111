// Reads a table out of a Markdown page.

/** The cells of the table with exactly these headings, row by row, trimmed. Throws when there is not one. */
export function readTable(page: string, headings: readonly string[]): string[][] {
  const starts = startsOf(page, headings);
  if (starts.length !== 1) {
    throw new Error(`${starts.length} tables have the headings ${headings.join(", ")}`);
  }
  return readTables(page, headings);
}

/** The rows of all tables with these headings. */
export function readTables(page: string, headings: readonly string[]): string[][] {
  const lines = page.split("\n");
  return startsOf(page, headings).flatMap((start) => {
    // Behind the headings stands the line that draws the columns.
    const rows = lines.slice(start + 2);
    const end = rows.findIndex((line) => !line.startsWith("|"));
    return (end < 0 ? rows : rows.slice(0, end)).map(cellsOf);
  });
}

function startsOf(page: string, headings: readonly string[]): number[] {
  return page
    .split("\n")
    .flatMap((line, index) => (cellsOf(line).join("|") === headings.join("|") ? [index] : []));
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

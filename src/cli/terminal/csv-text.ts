// Tables as CSV: RFC 4180, UTF-8, a header, LF. Read by spreadsheets and, of charts, by our own import.

/** A header and a line for each row; null is an empty cell. */
export function csvText(
  header: readonly string[],
  rows: readonly (readonly (string | boolean | null)[])[],
): string {
  return [header, ...rows].map(csvLine).join("\n");
}

/** One line of it, without its end. */
export function csvLine(cells: readonly (string | boolean | null)[]): string {
  return cells.map(csvCell).join(",");
}

function csvCell(value: string | boolean | null): string {
  const text = String(value ?? "");
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

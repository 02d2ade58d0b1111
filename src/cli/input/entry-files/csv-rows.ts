// Reads CSV (RFC 4180, UTF-8) row by row in constant memory. Written by hand because a broken row must
// not take the rest of the file with it: csv-parse 7, told to skip records with errors, loses its place
// after an unbalanced quote and swallows rows up to the next one, or to the end.
import { usageFailure } from "../../failure.ts";
import { findBrokenUtf8, readLines, type ByteLine } from "./byte-lines.ts";

/** The texts of a row by column, empty ones left out; or what is wrong with it. */
type CsvRow<Column extends string> =
  | { readonly line: number; readonly texts: Texts<Column>; readonly fault?: never }
  | { readonly line: number; readonly fault: string; readonly texts?: never };

export type Texts<Column extends string> = Readonly<Partial<Record<Column, string>>>;

const rowBytesMax = 1024 * 1024;
const quote = 0x22;

/**
 * The rows of a file after its header, each with the line on which it begins; lines may end in LF or CRLF, and
 * blank ones are passed over. After a broken row, reading goes on with the line after the row's first. `readHeader`
 * gets the first row, without fields where the file is empty, and returns the column of each. Throws what that
 * throws, and a usage failure where the header is broken.
 */
export async function* readCsvRows<Column extends string>(
  chunks: AsyncIterable<Buffer>,
  readHeader: (fields: readonly string[]) => readonly Column[],
): AsyncGenerator<CsvRow<Column>> {
  const lines = new LineQueue(readLines(chunks, rowBytesMax));
  let header: readonly Column[] | null = null;
  for (let first = await lines.next(); first !== null; first = await lines.next()) {
    const { line, bytes } = first;
    if (bytes !== null && isBlank(bytes)) continue;
    const fields = await readRow(line, bytes, lines);
    if (typeof fields === "string") {
      if (header === null) throw usageFailure(fields);
      yield { line, fault: fields };
    } else if (header === null) {
      header = readHeader(fields);
    } else if (fields.length !== header.length) {
      const counts = `${fields.length} fields, but the header has ${header.length}`;
      yield { line, fault: `line ${line}: ${counts}` };
    } else {
      yield { line, texts: textsOf(header, fields) };
    }
  }
  if (header === null) readHeader([]);
}

/** The rows of a file without a header, with a separator of its own; blank lines are passed over. */
export async function* readFields(
  chunks: AsyncIterable<Buffer>,
  separator: string,
): AsyncGenerator<
  | { readonly line: number; readonly fields: readonly string[]; readonly fault?: never }
  | { readonly line: number; readonly fault: string; readonly fields?: never }
> {
  const lines = new LineQueue(readLines(chunks, rowBytesMax));
  for (let first = await lines.next(); first !== null; first = await lines.next()) {
    const { line, bytes } = first;
    if (bytes !== null && isBlank(bytes)) continue;
    const fields = await readRow(line, bytes, lines, separator);
    yield typeof fields === "string" ? { line, fault: fields } : { line, fields };
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length === 1 && bytes[0] === 0x0d);
}

function textsOf<Column extends string>(
  header: readonly Column[],
  fields: readonly string[],
): Texts<Column> {
  return Object.fromEntries(
    header.flatMap((name, index) => (fields[index] ? [[name, fields[index]]] : [])),
  ) as Texts<Column>;
}

/**
 * The fields of a row, or its fault. A line with an odd number of quotes ends inside of a quoted field: the row
 * goes on.
 */
async function readRow(
  line: number,
  first: Buffer | null,
  lines: LineQueue,
  separator = ",",
): Promise<string[] | string> {
  if (first === null) return `line ${line}: longer than ${rowBytesMax / 1024} KiB`;
  const parts = [first];
  const more: ByteLine[] = [];
  let length = first.length;
  let isOpen = hasOddQuotes(first);
  while (isOpen) {
    const next = await lines.next();
    if (next !== null) more.push(next);
    length += next?.bytes?.length ?? 0;
    if (!next?.bytes || length > rowBytesMax) {
      lines.giveBack(more);
      return `line ${line}: a quote is opened and never closed`;
    }
    parts.push(Buffer.from("\n"), next.bytes);
    isOpen = isOpen !== hasOddQuotes(next.bytes);
  }
  const bytes = parts.length === 1 ? first : Buffer.concat(parts);
  const brokenLine = findBrokenUtf8(bytes, line);
  if (brokenLine !== null) return `line ${brokenLine}: not valid UTF-8`;
  const fields = splitFields(bytes.toString("utf8").replace(/\r$/, ""), separator);
  if (typeof fields !== "string") return fields;
  lines.giveBack(more);
  return `line ${line}, ${fields}`;
}

/** The fields of a row whose quotes are balanced, or which column is broken and how. */
function splitFields(row: string, separator: string): string[] | string {
  const fields: string[] = [];
  for (let start = 0; ;) {
    const column = `column ${fields.length + 1}`;
    let end: number;
    if (row.charAt(start) === '"') {
      end = endOfQuoted(row, start);
      if (end < row.length && row.charAt(end) !== separator) {
        return `${column}: something follows the closing quote`;
      }
      fields.push(row.slice(start + 1, end - 1).replaceAll('""', '"'));
    } else {
      const at = row.indexOf(separator, start);
      end = at < 0 ? row.length : at;
      const field = row.slice(start, end);
      if (field.includes('"')) return `${column}: a quote inside of a field that is not quoted`;
      fields.push(field);
    }
    if (end >= row.length) return fields;
    start = end + 1;
  }
}

/** The index after the closing quote; doubled quotes are part of the field. */
function endOfQuoted(row: string, start: number): number {
  for (let at = row.indexOf('"', start + 1); at >= 0; at = row.indexOf('"', at + 2)) {
    if (row.charAt(at + 1) !== '"') return at + 1;
  }
  return row.length;
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false;
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) isOdd = !isOdd;
  return isOdd;
}

/** Lines that can be given back: those of a row that turned out to be none. */
class LineQueue {
  readonly #lines: AsyncGenerator<ByteLine>;
  #ahead: ByteLine[] = [];

  constructor(lines: AsyncGenerator<ByteLine>) {
    this.#lines = lines;
  }

  async next(): Promise<ByteLine | null> {
    const held = this.#ahead.shift();
    if (held !== undefined) return held;
    const next = await this.#lines.next();
    return next.done === true ? null : next.value;
  }

  giveBack(lines: readonly ByteLine[]): void {
    if (lines.length > 0) this.#ahead = [...lines, ...this.#ahead];
  }
}

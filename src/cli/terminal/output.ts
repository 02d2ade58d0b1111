// What commands print: results on stdout, all else on stderr; tables for people, JSON for scripts.
import { once } from "node:events";
import type { Environment } from "../../config.ts";
import { stringifyExactJson, type ExactJsonValue } from "../../contract/exact-json.ts";
import { failureText } from "../failure.ts";
import { groupedDigits } from "./amounts.ts";
import { csvLine } from "./csv-text.ts";
import { foldLines, foldRemark } from "./fold-lines.ts";
import {
  columnGap,
  displayWidth,
  fitColumns,
  type Fitted,
  type FittedColumn,
  type Yielding,
} from "./fit-columns.ts";
import type { ResultSink } from "./pager.ts";
import { clearProgress } from "./progress-line.ts";
import { printable, printableJson, printableLines } from "./printable.ts";
import { shownText, styled, type Style } from "./styles.ts";
import { terminalWidth } from "./terminal-width.ts";

/** What stands between a command's documents and stdout. */
export interface DocumentFilter {
  /** Takes one document as JSON, and prints what becomes of it. Throws where nothing can. */
  write(document: string): void;
  /** After the last document. Throws what could not be thrown before. */
  end(): void;
}

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly filter?: DocumentFilter | undefined;
  readonly sink?: ResultSink | undefined;
  readonly csv?: boolean | undefined;
  readonly minor?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
}

export interface Column<Row> extends Yielding<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly value: (row: Row) => string;
  /** How a cell looks; of amounts, those below zero are credits without it. */
  readonly style?: (row: Row) => Style | null;
}

export class Output {
  readonly isJson: boolean;
  /** Lists are CSV: only of commands that say so. */
  readonly isCsv: boolean;
  readonly isQuiet: boolean;
  /** Amounts in text are in smallest units: only of commands that say so. */
  readonly isMinor: boolean;
  /** Whether results have colours. */
  readonly isColored: boolean;
  readonly #isColorRefused: boolean;
  readonly #sink: ResultSink | null;
  readonly #filter: DocumentFilter | null;
  #hasCsvHeader = false;
  /** Null where stdout is no terminal, or one that does not say how wide it is. */
  readonly terminalWidth: number | null;

  constructor(options: OutputOptions, isColorRefused: boolean) {
    this.isJson = options.json === true;
    this.isCsv = options.csv === true;
    this.isMinor = options.minor === true;
    this.#filter = options.filter ?? null;
    this.isQuiet = options.quiet === true;
    this.terminalWidth = terminalWidth(process.stdout);
    this.#sink = options.sink ?? null;
    this.#isColorRefused = options.color === false || isColorRefused;
    this.isColored = process.stdout.isTTY && !this.#isColorRefused && !this.isForPrograms;
  }

  /** An output for a person, whatever the results are for, with the same colours. */
  get forPeople(): Output {
    return new Output({}, this.#isColorRefused);
  }

  /** One result: JSON for scripts, or what `render` makes of it. */
  result<Value>(value: Value, render: (value: Value) => string): void {
    this.line(this.isJson ? toJson(value) : render(value));
  }

  /** Something made: its document for scripts, its members for people, its id alone with `--quiet`. */
  created<Value extends object>(value: Value, id: (value: Value) => string): void {
    this.result(value, () => (this.isQuiet ? id(value) : members(value, this.terminalWidth)));
  }

  /** Whether a program reads what is printed, and not a person. */
  get isForPrograms(): boolean {
    return this.isJson || this.isCsv;
  }

  /**
   * Many results: NDJSON for scripts, a table for people, with `--quiet` the id of each, a line each. `csv`: the members
   * that are columns of a CSV, the names of the JSON. A list may come in parts.
   */
  list<Row extends object>(
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    id: ((row: Row) => string) | null = null,
    csv: readonly (keyof Row & string)[] = [],
  ): void {
    if (this.isCsv) this.#csvRows(rows, csv);
    else if (this.isJson) for (const row of rows) this.line(toJson(row));
    else if (this.isQuiet && id !== null) for (const row of rows) this.line(printable(id(row)));
    else if (rows.length > 0) this.line(this.table(rows, columns));
    else this.note("none");
  }

  #csvRows<Row>(rows: readonly Row[], names: readonly (keyof Row & string)[]): void {
    if (!this.#hasCsvHeader) this.verbatim(csvLine(names));
    this.#hasCsvHeader = true;
    for (const row of rows) this.verbatim(csvLine(names.map((name) => csvValue(row[name]))));
  }

  /** A table, and on a terminal that is too narrow for all of it a note on stderr that says what it lacks. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
    const { columns: shown, leftOut } = this.fitted(rows, columns);
    this.noteLeftOut(leftOut);
    return [
      this.titleLine(shown),
      ...rows.map((row, index) => this.rowLine(shown, row, index)),
    ].join("\n");
  }

  /** The titles of a table as its first line. */
  titleLine<Row>(columns: readonly FittedColumn<Row, Column<Row>>[]): string {
    return lineOf(columns, ({ title }) => [title, this.styled(title, "heading")]);
  }

  /** A row of a table as a line, each cell in its column's width and style. */
  rowLine<Row>(
    columns: readonly FittedColumn<Row, Column<Row>>[],
    row: Row,
    index: number,
  ): string {
    return lineOf(columns, ({ cells, column }) => {
      const cell = cells[index] ?? "";
      const style = styleOf(column, row, cell);
      return [cell, cell === "" || style === null ? cell : this.styled(cell, style)];
    });
  }

  /** The columns of a table as far as a terminal is wide enough; into a pipe, all of them as they are. */
  fitted<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Fitted<Row, Column<Row>> {
    const printed = columns.map((column) => {
      const { shortValue } = column;
      return {
        ...column,
        value: (row: Row) => printable(column.value(row)),
        ...(shortValue === undefined
          ? {}
          : { shortValue: (row: Row) => printable(shortValue(row)) }),
      };
    });
    return fitColumns(rows, printed, this.terminalWidth);
  }

  /** An amount that stands in no table: like those in tables, on a terminal with its digits in groups of three. */
  grouped(amount: string): string {
    return this.terminalWidth === null || this.isQuiet ? amount : groupedDigits(amount);
  }

  /** Lines that begin with a label, on a terminal no wider than it as far as their words allow. */
  folded(text: string, labelWidth = verdictLabelWidth): string {
    return foldLines(text, labelWidth, this.terminalWidth);
  }

  /** Says what a table lacks. */
  noteLeftOut(titles: readonly string[]): void {
    if (titles.length === 0) return;
    this.note(`not shown, as the terminal is too narrow: ${titles.join(", ")}`);
  }

  /** A text that `line` shows in a style where results have colours. */
  styled(text: string, style: Style): string {
    return this.isColored ? styled(text, style) : text;
  }

  /** A text for people in which the verdicts that lines begin with are green or red where results have colours. */
  judged(text: string): string {
    if (!this.isColored) return text;
    return text.replace(verdicts, (words: string) =>
      styled(words, goodVerdicts.has(words.trim()) ? "good" : "bad"),
    );
  }

  /** Text for people is shown without control characters; JSON has had its own escaped by `toJson`. */
  line(text: string): void {
    if (this.#filter !== null) this.#filter.write(text);
    else this.#print(this.isJson ? text : shownText(text, this.isColored));
  }

  /** A line that begins with a verdict: green where it is good, red where it is bad, where colours are on. */
  verdict(isGood: boolean, words: string, rest: string): void {
    const text = this.folded(`${words}${rest}`, 0);
    this.line(this.styled(words, isGood ? "good" : "bad") + text.slice(words.length));
  }

  /**
   * What somebody else wrote: byte for byte into a pipe, without control characters on a terminal. A filter gets what is
   * neither JSON nor NDJSON as a JSON text.
   */
  verbatim(text: string): void {
    if (this.#filter !== null) this.#filter.write(areDocuments(text) ? text : toJson(text));
    else this.#print(process.stdout.isTTY ? printableLines(text) : text);
  }

  /**
   * Resolves when stdout can take more, and throws where nobody reads on. Without it, results printed faster than a pipe
   * is read pile up in memory: 2 GB for a dry run of a million entries into `wc`.
   */
  async drained(): Promise<void> {
    await (this.#sink?.drained() ?? stdoutDrained());
  }

  /** A remark for the person at the terminal; `--quiet` silences it. With `--json` it is an object, as all on stderr. */
  readonly note = (text: string): void => {
    if (!this.isQuiet) this.#tell(this.#noteText(text));
  };

  readonly warn = (text: string): void => {
    this.#tell(this.isJson ? toJson({ warning: text }) : foldRemark(`ledgerctl: ${text}`));
  };

  /** A note on what the results wait for: it comes before them. */
  noteAtOnce(text: string): void {
    if (this.#sink?.isShown === true) this.note(text);
    else if (!this.isQuiet) toStderr(printableLines(this.#noteText(text)));
  }

  #noteText(text: string): string {
    return this.isJson ? toJson({ note: text }) : foldRemark(text);
  }

  /** What `--verbose` tells: lines for people, else the same as an object. */
  exchange(document: object, lines: readonly string[]): void {
    this.#tell(this.isJson ? toJson({ exchange: document }) : lines.join("\n"));
  }

  /** A failure that does not end the command at once. */
  failure(error: unknown): void {
    toStderr(failureText(error, this.isJson, this.#isStderrColored).trimEnd());
  }

  get #isStderrColored(): boolean {
    return process.stderr.isTTY && !this.#isColorRefused;
  }

  #print(text: string): void {
    if (this.#sink !== null) this.#sink.write(`${text}\n`);
    else process.stdout.write(`${text}\n`);
  }

  /** Says on stderr what is no result: after the results where those may still be shown. */
  #tell(text: string): void {
    const shown = shownText(text, this.#isStderrColored);
    if (this.#sink !== null) this.#sink.afterwards(`${shown}\n`);
    else toStderr(shown);
  }
}

/** A line of a table, of each column's text as it is and in its style. */
function lineOf<Row>(
  columns: readonly FittedColumn<Row, Column<Row>>[],
  textsOf: (column: FittedColumn<Row, Column<Row>>) => readonly [plain: string, styled: string],
): string {
  const cells = columns.map((fitted) => {
    const [plain, styled] = textsOf(fitted);
    const padding = " ".repeat(Math.max(0, fitted.width - displayWidth(plain)));
    return fitted.column.align === "right" ? padding + styled : styled + padding;
  });
  return cells.join(" ".repeat(columnGap)).trimEnd();
}

/** How a cell looks where its column says nothing of it: amounts below zero are credits. */
function styleOf<Row>({ style, isAmount }: Column<Row>, row: Row, cell: string): Style | null {
  if (style !== undefined) return style(row);
  return isAmount === true && cell.startsWith("-") ? "credit" : null;
}

/** Whether a text is one JSON document, or one on each line. */
function areDocuments(text: string): boolean {
  return isDocument(text) || text.trimEnd().split("\n").every(isDocument);
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function stdoutDrained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}

/** Prints what others wrote, as it comes and no faster than it is read. */
export async function printTexts(texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    process.stdout.write(process.stdout.isTTY ? printableLines(text) : text);
    await stdoutDrained();
  }
}

/** Whether a command shows its live screen: on a terminal that can move its cursor, unless lines were asked for. */
export function isScreenWanted(output: Output, environment: Environment): boolean {
  return process.stdout.isTTY && !output.isJson && environment.term !== "dumb";
}

/**
 * The members of a document, a line each, aligned. On a terminal of `width` columns, values such as hashes that are too
 * long for their line have one of their own.
 */
export function members(document: object, width: number | null = null): string {
  const entries = Object.entries(document).map(([name, value]) => [
    name,
    printable(String(value ?? "")),
  ]);
  const nameWidth = Math.max(...entries.map(([name = ""]) => name.length));
  return entries
    .map(([name = "", value = ""]) => {
      const line = `${name.padEnd(nameWidth)}  ${value}`.trimEnd();
      const isTooLong = displayWidth(line) > (width ?? Infinity);
      return isTooLong ? `${name}\n  ${value}` : line;
    })
    .join("\n");
}

/** JSON that no terminal takes for a command. */
export function toJson(value: unknown): string {
  return printableJson(stringifyExactJson(value as ExactJsonValue));
}

function toStderr(text: string): void {
  clearProgress();
  process.stderr.write(`${text}\n`);
}

/** A member in a cell of a CSV: what is no text, number or truth value stands there as JSON. */
function csvValue(value: unknown): string | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  return stringifyExactJson(value as ExactJsonValue);
}

/** Of the labels of what was verified: `not compared `. */
const verdictLabelWidth = 13;

const goodVerdicts: ReadonlySet<string> = new Set(["ok", "verified", "Everything matches"]);

/** At the beginning of a line, indented or not. */
const verdicts = /^ *(?:ok|verified|Everything matches|FAIL|FAILED|MISMATCH|failed)\b/gm;

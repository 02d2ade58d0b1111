// What commands print: results on stdout, all else on stderr; tables for people, JSON for scripts.
import { once } from "node:events";
import Table from "cli-table3";
import type { Environment } from "../../config.ts";
import { stringifyExactJson, type ExactJsonValue } from "../../contract/exact-json.ts";
import { failureText } from "../failure.ts";
import { csvLine } from "./csv-text.ts";
import { fitColumns, type Fitted, type Yielding } from "./fit-columns.ts";
import { clearProgress } from "./progress-line.ts";
import { printable, printableJson, printableLines } from "./printable.ts";

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
  readonly csv?: boolean | undefined;
  readonly minor?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
}

export interface Column<Row> extends Yielding<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly value: (row: Row) => string;
}

export class Output {
  readonly isJson: boolean;
  /** Lists are CSV: only of commands that say so. */
  readonly isCsv: boolean;
  readonly isQuiet: boolean;
  /** Amounts in text are in smallest units, without their currency: only of commands that say so. */
  readonly isMinor: boolean;
  readonly isColored: boolean;
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
    this.terminalWidth = process.stdout.isTTY ? process.stdout.columns || null : null;
    this.isColored = process.stdout.isTTY && options.color !== false && !isColorRefused;
  }

  /** One result: JSON for scripts, or what `render` makes of it. */
  result<Value>(value: Value, render: (value: Value) => string): void {
    this.line(this.isJson ? toJson(value) : render(value));
  }

  /** Something made: its document for scripts, its members for people, its id alone with `--quiet`. */
  created<Value extends object>(value: Value, id: (value: Value) => string): void {
    this.result(value, () => (this.isQuiet ? id(value) : members(value)));
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
    const table = new Table({
      head: shown.map(({ title }) => title),
      colAligns: shown.map(({ column }) => column.align ?? "left"),
      chars: noBorders,
      style: {
        "padding-left": 0,
        "padding-right": 0,
        head: this.isColored ? ["bold"] : [],
        border: [],
        compact: true,
      },
    });
    for (const index of rows.keys()) table.push(shown.map(({ cells }) => cells[index] ?? ""));
    return table
      .toString()
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n");
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

  /** Says what a table lacks. */
  noteLeftOut(titles: readonly string[]): void {
    if (titles.length === 0) return;
    this.note(`not shown, as the terminal is too narrow: ${titles.join(", ")}`);
  }

  /** The titles above rows that a command prints by itself. */
  heading(text: string): void {
    this.line(this.isColored ? `${boldBegin}${text}${boldEnd}` : text);
  }

  /** Text for people is shown without control characters; JSON has had its own escaped by `toJson`. */
  line(text: string): void {
    if (this.#filter !== null) this.#filter.write(text);
    else process.stdout.write(`${this.isJson ? text : this.#shown(text)}\n`);
  }

  /** A line that begins with a verdict: green where it is good, red where it is bad, where colours are on. */
  verdict(isGood: boolean, words: string, rest: string): void {
    const colour = isGood ? green : red;
    const shown = this.isColored ? `${colour}${words}${defaultColour}` : words;
    process.stdout.write(`${shown}${printableLines(rest)}\n`);
  }

  /** What somebody else wrote: byte for byte into a pipe, without control characters on a terminal. */
  verbatim(text: string): void {
    if (this.#filter !== null) this.#filter.write(text);
    else process.stdout.write(`${process.stdout.isTTY ? printableLines(text) : text}\n`);
  }

  /** A remark for the person at the terminal; `--quiet` silences it. With `--json` it is an object, as all on stderr. */
  readonly note = (text: string): void => {
    if (this.isQuiet) return;
    toStderr(this.isJson ? toJson({ note: text }) : printableLines(text));
  };

  readonly warn = (text: string): void => {
    toStderr(this.isJson ? toJson({ warning: text }) : `ledgerctl: ${printableLines(text)}`);
  };

  /** What `--verbose` tells: lines for people, else the same as an object. */
  exchange(document: object, lines: readonly string[]): void {
    toStderr(this.isJson ? toJson({ exchange: document }) : printableLines(lines.join("\n")));
  }

  /** A failure that does not end the command at once. */
  failure(error: unknown): void {
    toStderr(failureText(error, this.isJson).trimEnd());
  }

  /** The headings of tables are bold. */
  #shown(text: string): string {
    if (!this.isColored) return printableLines(text);
    const parts = text.split(bold);
    return parts.map((part, index) => (index % 2 === 0 ? printableLines(part) : part)).join("");
  }
}

/**
 * Resolves when stdout can take more. Without it, results printed faster than a pipe is read pile up in
 * memory: 2 GB for a dry run of a million entries into `wc`.
 */
export async function outputDrained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}

/** Prints what others wrote, as it comes and no faster than it is read. */
export async function printTexts(texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    process.stdout.write(process.stdout.isTTY ? printableLines(text) : text);
    await outputDrained();
  }
}

/** Whether a command shows its live screen: on a terminal that can move its cursor, unless lines were asked for. */
export function isScreenWanted(output: Output, environment: Environment): boolean {
  return process.stdout.isTTY && !output.isJson && environment.term !== "dumb";
}

/** The members of a document, a line each, aligned. */
export function members(document: object): string {
  const entries = Object.entries(document).map(([name, value]) => [
    name,
    printable(String(value ?? "")),
  ]);
  const width = Math.max(...entries.map(([name = ""]) => name.length));
  return entries
    .map(([name = "", value = ""]) => `${name.padEnd(width)}  ${value}`.trimEnd())
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

const green = "\u001b[32m";
const red = "\u001b[31m";
const defaultColour = "\u001b[39m";

const boldBegin = "\u001b[1m";
const boldEnd = "\u001b[22m";

/** Begin and end of bold, as the table writes them. */
const bold = /(\u001b\[(?:1|22)m)/;

/** Two blanks between columns, and nothing in place of all else that a table is drawn with. */
const noBorders = {
  ...Object.fromEntries(Object.keys(new Table().options.chars).map((name) => [name, ""])),
  middle: "  ",
};

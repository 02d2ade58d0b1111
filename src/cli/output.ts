// What commands print: results on stdout, all else on stderr; tables for people, JSON for scripts.
import Table from "cli-table3";
import { stringifyExactJson, type ExactJsonValue } from "../contract/exact-json.ts";

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
}

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly value: (row: Row) => string;
}

export class Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isColored: boolean;

  constructor(options: OutputOptions, isColorRefused: boolean) {
    this.isJson = options.json === true;
    this.isQuiet = options.quiet === true;
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

  /** Many results: NDJSON for scripts, a table for people. */
  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    if (this.isJson) for (const row of rows) this.line(toJson(row));
    else if (rows.length > 0) this.line(this.table(rows, columns));
    else this.note("none");
  }

  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
    const table = new Table({
      head: columns.map(({ title }) => title),
      colAligns: columns.map(({ align }) => align ?? "left"),
      chars: noBorders,
      style: {
        "padding-left": 0,
        "padding-right": 0,
        head: this.isColored ? ["bold"] : [],
        border: [],
        compact: true,
      },
    });
    for (const row of rows) table.push(columns.map(({ value }) => value(row)));
    return table
      .toString()
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n");
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** A remark for the person at the terminal; `--quiet` silences it. */
  note(text: string): void {
    if (!this.isQuiet) process.stderr.write(`${text}\n`);
  }

  warn(text: string): void {
    process.stderr.write(`ledgerctl: ${text}\n`);
  }
}

/** The members of a document, a line each, aligned. */
export function members(document: object): string {
  const entries = Object.entries(document).map(([name, value]) => [name, String(value ?? "")]);
  const width = Math.max(...entries.map(([name = ""]) => name.length));
  return entries
    .map(([name = "", value = ""]) => `${name.padEnd(width)}  ${value}`.trimEnd())
    .join("\n");
}

export function toJson(value: unknown): string {
  return stringifyExactJson(value as ExactJsonValue);
}

const noBorders = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

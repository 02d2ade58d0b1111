// Rules that say what the columns of a bank's CSV are, in the manner of hledger's CSV rules: read from their file here, applied
// in bank-entries.ts. What is not known is refused: a rule that is passed over would post something else.
import { usageFailure } from "../../failure.ts";
import { readDateFormat, type DateReader } from "./bank-dates.ts";

/** What a rule can set: the fields of hledger, and `rate`. */
export const bankFields = [
  ...["date", "description", "account1", "account2", "amount", "amount-in", "amount-out"],
  ...["currency", "rate", "comment", "code"],
] as const;

export type BankField = (typeof bankFields)[number];

/** Of hledger, and not taken over: they may name a column, and are not set. */
const ignoredFields = ["balance", "balance1", "status", "date2"];

/** `field value` of the rules' file. */
export interface Assignment {
  readonly field: BankField;
  /** With `%name` and `%1` for columns. */
  readonly value: string;
  readonly line: number;
}

export interface Matcher {
  readonly pattern: RegExp;
  /** The column that is looked at, from 0; null: all of the row, joined by commas. */
  readonly column: number | null;
}

/** An `if` with what it says: it holds where all matchers of one of its groups match. */
export interface Conditional {
  readonly groups: readonly (readonly Matcher[])[];
  readonly assignments: readonly Assignment[];
  readonly outcome: "skip" | "end" | null;
}

export interface BankRules {
  readonly file: string;
  /** Rows before the first of the bank's. */
  readonly skip: number;
  readonly separator: string;
  readonly decimalMark: "." | "," | null;
  readonly readDate: DateReader;
  /** Names of columns in lower case; empty for one without a name. */
  readonly columns: readonly string[];
  readonly assignments: readonly Assignment[];
  readonly conditionals: readonly Conditional[];
}

const separators: Readonly<Record<string, string>> = {
  space: " ",
  tab: "\t",
  comma: ",",
  semicolon: ";",
};

interface Line {
  readonly number: number;
  readonly text: string;
  readonly isIndented: boolean;
}

/** Reads the text of a rules' file. Throws a usage failure that names file, line and rule. */
export function parseBankRules(file: string, text: string): BankRules {
  const lines = text.split(/\r?\n/).map((line, index) => ({
    number: index + 1,
    text: line.trim(),
    isIndented: /^\s/.test(line),
  }));
  return new RulesParser(file, lines).parse();
}

class RulesParser {
  readonly #file: string;
  readonly #lines: readonly Line[];
  #at = 0;
  #skip = 0;
  #separator = ",";
  #decimalMark: "." | "," | null = null;
  #readDate: DateReader = readDateFormat(null);
  #columns: readonly string[] = [];
  readonly #assignments: Assignment[] = [];
  readonly #conditionals: Conditional[] = [];

  constructor(file: string, lines: readonly Line[]) {
    this.#file = file;
    this.#lines = lines.filter(({ text }) => text !== "" && !/^[#;*]/.test(text));
  }

  parse(): BankRules {
    // Conditions may name columns that `fields` names further down.
    const fields = this.#lines.find(({ text }) => /^fields\b/.test(text));
    if (fields !== undefined) this.#readFields(fields);
    for (let line = this.#next(); line !== null; line = this.#next()) this.#readLine(line);
    return {
      file: this.#file,
      skip: this.#skip,
      separator: this.#separator,
      decimalMark: this.#decimalMark,
      readDate: this.#readDate,
      columns: this.#columns,
      assignments: this.#assignments,
      conditionals: this.#conditionals,
    };
  }

  #next(): Line | null {
    return this.#lines[this.#at++] ?? null;
  }

  #fault(line: Line | number, detail: string) {
    const number = typeof line === "number" ? line : line.number;
    return usageFailure(`${this.#file}, line ${number}: ${detail}`);
  }

  #readLine(line: Line): void {
    const [word, rest] = splitWord(line.text);
    if (/^if[,;|\t]/.test(line.text)) {
      throw this.#fault(line, "tables of if are not read; write an if for each of their lines");
    }
    if (line.isIndented) throw this.#fault(line, `${quoted(line.text)} belongs to no if`);
    switch (word) {
      case "skip":
        this.#skip = this.#readCount(line, rest);
        return;
      case "separator":
        this.#separator = this.#readSeparator(line, rest);
        return;
      case "decimal-mark":
        if (rest !== "." && rest !== ",") throw this.#fault(line, "decimal-mark must be . or ,");
        this.#decimalMark = rest;
        return;
      case "date-format":
        this.#readDate = this.#readDateFormat(line, rest);
        return;
      case "fields":
        return;
      case "if":
        this.#conditionals.push(this.#readIf(line, rest));
        return;
      default:
        this.#assignments.push(this.#readAssignment(line));
    }
  }

  #readCount(line: Line, text: string): number {
    if (!/^[0-9]{0,4}$/.test(text)) throw this.#fault(line, "skip must be followed by a number");
    return text === "" ? 1 : Number(text);
  }

  #readSeparator(line: Line, text: string): string {
    const separator = separators[text.toLowerCase()] ?? text;
    if (separator.length === 1 && separator !== '"') return separator;
    throw this.#fault(line, "separator must be one character, or SPACE, TAB, COMMA or SEMICOLON");
  }

  #readDateFormat(line: Line, text: string): DateReader {
    try {
      return readDateFormat(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw this.#fault(line, error.message);
    }
  }

  /** Names of columns, of which those of fields set them. */
  #readFields(line: Line): void {
    const [, rest] = splitWord(line.text);
    this.#columns = rest.split(",").map((name) =>
      name
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .toLowerCase(),
    );
    for (const [index, name] of this.#columns.entries()) {
      const field = this.#findField(line, name);
      if (field !== null) {
        this.#assignments.push({ field, value: `%${index + 1}`, line: line.number });
      }
    }
  }

  /** The field of that name; null for the name of a column alone. */
  #findField(line: Line, name: string): BankField | null {
    if (/^(?:account[3-9]|(?:amount|currency)[1-9](?:-in|-out)?|account[12][0-9]+)$/.test(name)) {
      throw this.#fault(line, `${name}: an entry has the two lines of account1 and account2`);
    }
    return bankFields.find((field) => field === name) ?? null;
  }

  #readAssignment(line: Line): Assignment {
    const [word, rest] = splitWord(line.text);
    const name = word.replace(/:$/, "").toLowerCase();
    const field = this.#findField(line, name);
    if (field !== null) {
      this.#requireColumns(line, rest);
      return { field, value: rest, line: line.number };
    }
    const hint = ignoredFields.includes(name) ? "is not set here" : "is no rule";
    const known = `skip, separator, decimal-mark, date-format, fields, if, ${bankFields.join(", ")}`;
    throw this.#fault(line, `${quoted(name)} ${hint}; the rules are ${known}`);
  }

  /** `%name` has to be a column, where names are known. */
  #requireColumns(line: Line, value: string): void {
    for (const [, name = ""] of value.matchAll(columnReference)) this.#columnOf(line, name);
  }

  #columnOf(line: Line, name: string): number {
    if (/^[0-9]+$/.test(name)) {
      if (Number(name) > 0) return Number(name) - 1;
      throw this.#fault(line, "columns are counted from %1");
    }
    const column = this.#columns.indexOf(name.toLowerCase());
    if (column >= 0) return column;
    throw this.#fault(line, `%${name} is no column that fields names`);
  }

  /** Patterns on the line or on lines of their own, then indented what holds where one matches. */
  #readIf(first: Line, rest: string): Conditional {
    const groups: Matcher[][] = [];
    const add = (line: Line, text: string) => {
      const [, and = "", pattern = ""] = /^(&?)\s*(.*)$/.exec(text) ?? [];
      const matcher = this.#readMatcher(line, pattern);
      const last = groups.at(-1);
      if (and === "&" && last !== undefined) last.push(matcher);
      else if (and === "&") throw this.#fault(line, "& stands before the first pattern");
      else groups.push([matcher]);
    };
    if (rest !== "") add(first, rest);
    while (this.#peek()?.isIndented === false && (rest === "" || this.#peek()?.text[0] === "&")) {
      const line = this.#next();
      if (line !== null) add(line, line.text);
    }
    if (groups.length === 0) throw this.#fault(first, "if has no pattern");
    return { groups, ...this.#readBlock(first) };
  }

  #peek(): Line | null {
    return this.#lines[this.#at] ?? null;
  }

  #readBlock(first: Line): Pick<Conditional, "assignments" | "outcome"> {
    const assignments: Assignment[] = [];
    let outcome: Conditional["outcome"] = null;
    while (this.#peek()?.isIndented === true) {
      const line = this.#next();
      if (line === null) break;
      if (line.text === "skip" || line.text === "end") outcome = line.text;
      else assignments.push(this.#readAssignment(line));
    }
    if (outcome === null && assignments.length === 0) {
      throw this.#fault(
        first,
        "nothing is indented below this if (several patterns: a line each, below an if alone)",
      );
    }
    return { assignments, outcome };
  }

  #readMatcher(line: Line, text: string): Matcher {
    const [, name, rest = text] = /^%([A-Za-z0-9_-]+)\s+(.*)$/.exec(text) ?? [];
    const column = name === undefined ? null : this.#columnOf(line, name);
    if (rest.includes("[[:")) {
      throw this.#fault(line, "classes such as [[:digit:]] are not read; write [0-9]");
    }
    try {
      return { column, pattern: new RegExp(rest, "iu") };
    } catch {
      throw this.#fault(line, `${quoted(rest)} is no regular expression`);
    }
  }
}

/** `%name` or `%1` in a value. */
export const columnReference = /%([A-Za-z0-9_-]+)/g;

function splitWord(text: string): [word: string, rest: string] {
  const [, word = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(text) ?? [];
  return [word, rest];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

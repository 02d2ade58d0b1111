// Rows of a bank's CSV and the rules about them, made into entries of two lines.
import { createHash } from "node:crypto";
import { parseRate } from "../../../core/asset.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { exchange } from "../../../core/exchange.ts";
import { dayFault } from "../../../core/time.ts";
import { readFields } from "../entry-files/csv-rows.ts";
import type { GivenRate } from "../rates.ts";
import { suggestion } from "../suggestion.ts";
import { isUnitOf, readBankAmount } from "./bank-amounts.ts";
import { columnReference, type Assignment, type BankField, type BankRules } from "./rules.ts";

export interface Currency {
  readonly code: string;
  readonly exponent: number;
}

/** What becomes of a row: debits on account1 are positive. */
export interface BankEntry {
  readonly line: number;
  readonly externalId: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly description: string;
  readonly account1: string;
  readonly account2: string;
  /** Smallest units of the ledger's currency, of account1. */
  readonly amount: bigint;
  /** What the bank has, where that is in another currency; null in the ledger's. */
  readonly transaction: BankTransaction | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface BankTransaction {
  /** Smallest units, of account1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly rate: GivenRate;
}

export interface BankFile {
  readonly entries: readonly BankEntry[];
  /** Each names the line and, where one is to blame, the rule. */
  readonly faults: readonly string[];
}

/** Reads all of a bank's file, for a ledger with such a currency and these active accounts. */
export async function readBankFile(
  chunks: AsyncIterable<Buffer>,
  rules: BankRules,
  currency: Currency,
  accounts: readonly string[],
): Promise<BankFile> {
  const entries: BankEntry[] = [];
  const faults: string[] = [];
  const seen = new Map<string, number>();
  let rows = 0;
  for await (const { line, fields, fault } of readFields(withoutMark(chunks), rules.separator)) {
    rows += 1;
    if (rows <= rules.skip) continue;
    if (fields === undefined) {
      faults.push(fault);
      continue;
    }
    const row = new Row(rules, fields);
    if (row.outcome === "end") break;
    if (row.outcome === "skip") continue;
    try {
      requireSeparated(fields, rules);
      const read = readRow(row, rules, currency);
      for (const field of ["account1", "account2"] as const) requireAccount(row, field, accounts);
      entries.push({ ...read, line, externalId: idOf(read.account1, fields, seen) });
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      const rule = error.rule === null ? "" : ` (${rules.file}, line ${error.rule})`;
      faults.push(`line ${line}: ${error.message}${rule}`);
    }
  }
  return { entries, faults };
}

/**
 * Of the account and the row's content, and of how many such rows came before it in the file: importing a file again
 * posts nothing twice, also a longer one that has the same rows in it, and two equal rows are two entries.
 */
function idOf(account: string, fields: readonly string[], seen: Map<string, number>): string {
  const content = JSON.stringify([account, ...fields.map((field) => field.trim())]);
  const hash = createHash("sha256").update(content).digest("hex");
  const before = seen.get(hash) ?? 0;
  seen.set(hash, before + 1);
  return `bank-${hash}-${before}`;
}

/** What is wrong with a row, and the line of the rule that it comes from. */
class RowFault extends Error {
  readonly rule: number | null;

  constructor(message: string, rule: number | null = null) {
    super(message);
    this.rule = rule;
  }
}

interface Value {
  readonly text: string;
  readonly rule: number;
}

/** A row with the rules that hold for it. */
class Row {
  readonly outcome: "skip" | "end" | null;
  readonly #fields: readonly string[];
  readonly #columns: readonly string[];
  readonly #assignments = new Map<BankField, Assignment>();

  constructor({ columns, assignments, conditionals }: BankRules, fields: readonly string[]) {
    this.#fields = fields;
    this.#columns = columns;
    const whole = fields.join(",");
    const holding = conditionals.filter(({ groups }) =>
      groups.some((matchers) =>
        matchers.every(({ column, pattern }) =>
          pattern.test(column === null ? whole : this.#field(column)),
        ),
      ),
    );
    this.outcome = holding.find(({ outcome }) => outcome !== null)?.outcome ?? null;
    // The last one counts, and what stands below an if before what stands by itself.
    for (const assignment of [
      ...assignments,
      ...holding.flatMap((conditional) => conditional.assignments),
    ]) {
      this.#assignments.set(assignment.field, assignment);
    }
  }

  /** What a rule sets a field to, with the columns in it; null where none does. */
  value(field: BankField): Value | null {
    const assignment = this.#assignments.get(field);
    if (assignment === undefined) return null;
    const text = assignment.value.replace(columnReference, (_, name: string) =>
      this.#field(
        /^[0-9]+$/.test(name) ? Number(name) - 1 : this.#columns.indexOf(name.toLowerCase()),
      ),
    );
    return { text: text.trim(), rule: assignment.line };
  }

  #field(column: number): string {
    return (this.#fields[column] ?? "").trim();
  }
}

/** A file with another separator is told so, and not by what its first column can't be read as. */
function requireSeparated(fields: readonly string[], { columns, separator }: BankRules): void {
  if (fields.length > 1 || columns.length < 2) return;
  const what = `it has one column, where fields names ${columns.length}`;
  throw new RowFault(`${what}: is ${JSON.stringify(separator)} the separator of this file?`);
}

function readRow(row: Row, rules: BankRules, currency: Currency) {
  const date = needed(row, "date");
  const day = rules.readDate(date.text);
  const fault = day === null ? "has another form than date-format says" : dayFault(day);
  if (day === null || fault !== null) {
    throw new RowFault(`date ${JSON.stringify(date.text)}: ${fault ?? ""}`, date.rule);
  }
  const account1 = needed(row, "account1").text;
  const account2 = needed(row, "account2").text;
  const notes = (["code", "comment"] as const).flatMap((name) => {
    const text = row.value(name)?.text ?? "";
    return text === "" ? [] : [[name, text] as const];
  });
  return {
    date: day,
    description: row.value("description")?.text ?? "",
    account1,
    account2,
    ...readAmounts(row, rules, currency),
    metadata: Object.fromEntries(notes),
  };
}

function requireAccount(row: Row, field: BankField, accounts: readonly string[]): void {
  const { text, rule } = needed(row, field);
  if (accounts.includes(text)) return;
  const meant = suggestion(text, accounts).trim();
  const what = `${field} ${JSON.stringify(text)}: the ledger has no such active account`;
  throw new RowFault(meant === "" ? what : `${what}. ${meant}`, rule);
}

function needed(row: Row, field: BankField): Value {
  const value = row.value(field);
  if (value === null) throw new RowFault(`no rule says its ${field}`);
  if (value.text === "") throw new RowFault(`its ${field} is empty`, value.rule);
  return value;
}

/** What a row's amounts are in. */
interface RowUnit extends Currency {
  /** Of another currency than the ledger's. */
  readonly rate: GivenRate | null;
}

/** The row's amount in the ledger's currency: what the bank has, or what that is worth at the row's rate. */
function readAmounts(
  row: Row,
  rules: BankRules,
  currency: Currency,
): Pick<BankEntry, "amount" | "transaction"> {
  const { code, exponent, rate } = readUnit(row, rules, currency);
  const amount = readAmount(row, rules, { code, exponent }, currency);
  if (rate === null) return { amount, transaction: null };
  const worth = exchange(amount, rate.rate, { from: exponent, to: currency.exponent });
  if (worth === 0n) throw new RowFault(`it comes to 0 ${currency.code}: skip such rows with an if`);
  return { amount: worth, transaction: { amount, currency: code, rate } };
}

/** What `currency` says; another one than the ledger's needs a rate. */
function readUnit(row: Row, { decimalMark }: BankRules, currency: Currency): RowUnit {
  const named = row.value("currency");
  if (named === null || isUnitOf(named.text, currency.code)) return { ...currency, rate: null };
  const code = named.text.toUpperCase();
  const given = row.value("rate");
  if (given === null || given.text === "") throw otherUnit(named, currency);
  const exponent = currencyExponents.get(code);
  if (exponent === undefined) {
    const what = `currency ${JSON.stringify(named.text)} is none of ISO 4217`;
    throw new RowFault(`${what}, and only those have a rate`, named.rule);
  }
  const text = decimalMark === "," ? given.text.replace(",", ".") : given.text;
  const rate = parseRate(text);
  if (rate === null) {
    const what = `rate ${JSON.stringify(given.text)} is no exact decimal above zero`;
    throw new RowFault(`${what}, such as 0.9123`, given.rule);
  }
  return { code, exponent, rate: { text, rate } };
}

function otherUnit({ text, rule }: Value, { code }: Currency): RowFault {
  const its = `its amount is in ${text}, and the ledger in ${code}`;
  return new RowFault(`${its}: set its currency and its rate, or skip it with an if`, rule);
}

/** In smallest units of `unit`. From `amount`, or from the one of `amount-in` and `amount-out` that is there and not zero. */
function readAmount(
  row: Row,
  { decimalMark }: BankRules,
  unit: Currency,
  currency: Currency,
): bigint {
  const read = (field: "amount" | "amount-in" | "amount-out"): bigint | null => {
    const value = row.value(field);
    if (value === null || value.text === "") return null;
    const { value: found, fault } = readBankAmount(value.text, decimalMark, unit.exponent);
    if (fault !== undefined) throw new RowFault(`${field} ${fault}`, value.rule);
    if (!isUnitOf(found.unit, unit.code)) {
      throw otherUnit({ text: found.unit, rule: value.rule }, currency);
    }
    return found.amount;
  };
  const [plain, incoming, outgoing] = [read("amount"), read("amount-in"), read("amount-out")];
  const given = [plain, incoming, outgoing === null ? null : -outgoing].filter(
    (amount) => amount !== null,
  );
  const [amount, ...others] = given.filter((each) => each !== 0n);
  if (others.length > 0) throw new RowFault("it has an amount-in and an amount-out");
  if (amount !== undefined) return amount;
  if (given.length > 0) throw new RowFault("its amount is zero: skip such rows with an if");
  throw new RowFault("it has no amount: amount, amount-in and amount-out are empty or not there");
}

const byteOrderMark = "\ufeff";

/** Without the mark that some programs begin UTF-8 with. */
async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const marked = isFirst && chunk.subarray(0, 3).toString() === byteOrderMark;
    isFirst = false;
    yield marked ? chunk.subarray(3) : chunk;
  }
}

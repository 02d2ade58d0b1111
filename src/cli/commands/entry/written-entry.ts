// An entry written out as a text to edit; edited-entry.ts reads it.
import type { Account, EntryInput, EntryLineInput } from "../../../client/ledger-client.ts";
import { parseRate } from "../../../core/asset.ts";
import { exchange } from "../../../core/exchange.ts";
import { formatMajorAmount } from "../../../core/money.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import { usageFailure } from "../../failure.ts";
import { parseTypedAmount } from "../../input/typed-amount.ts";
import { dayOrTime } from "../../terminal/short-date.ts";
import { printable } from "../../terminal/printable.ts";
import { labelLine } from "./edited-entry.ts";

/** The text, with the chart's active accounts as comments. Throws a usage failure for what can't be written so. */
export function writeEntry(
  entry: EntryInput,
  currency: string,
  exponentOf: ExponentOf,
  accounts: readonly Account[],
): string {
  const { transactionDate, entryType, description, externalId, metadata = {}, lines } = entry;
  const other = currency === "USD" ? "EUR" : "USD";
  return [
    `# An entry in ${printable(currency)}. It is posted when the editor is closed. To post nothing, empty the file.`,
    "# What begins with # is not read. Without a date it is dated now.",
    "",
    label("date", dayOrTime(transactionDate ?? "")),
    label("type", entryType ?? "STANDARD"),
    label("description", written(description ?? "")),
    label("externalId", written(externalId ?? "")),
    label("metadata", JSON.stringify(metadata)),
    "",
    "# A line each: the account, and the amount in major units, debits positive. Behind a semicolon: its description.",
    `# Of another currency, with its rate or with what it is worth: 1000.00 ${other} @ 0.92, 1000.00 ${other} @@ 920.00`,
    ...writtenLines(lines, currency, exponentOf),
    "",
    "# Accounts:",
    ...accounts
      .filter(({ active }) => active)
      .map(({ glAccountCode, name }) => `#   ${writtenCode(glAccountCode)}  ${printable(name)}`),
    "",
  ].join("\n");
}

function label(name: string, value: string): string {
  return `${name}: ${value}`.trimEnd();
}

function writtenLines(
  lines: readonly EntryLineInput[],
  currency: string,
  exponentOf: ExponentOf,
): string[] {
  const rows = lines.map((line) => ({
    code: writtenCode(line.glAccountCode),
    amount: writtenAmount(line, currency, exponentOf),
    description: typeof line.description === "string" ? `  ; ${written(line.description)}` : "",
  }));
  const codeWidth = Math.max(0, ...rows.map(({ code }) => code.length));
  const numberOf = (amount: string) => amount.split(" ", 1)[0] ?? "";
  const numberWidth = Math.max(0, ...rows.map(({ amount }) => numberOf(amount).length));
  return rows.map(({ code, amount, description }) => {
    const blanks = " ".repeat(numberWidth - numberOf(amount).length);
    return `${code.padEnd(codeWidth)}  ${blanks}${amount}${description}`;
  });
}

/** `1000.00 USD @ 0.92`; what it is worth is written too where the rate does not give it. */
function writtenAmount(line: EntryLineInput, currency: string, exponentOf: ExponentOf): string {
  const { functionalAmount, transactionAmount, transactionCurrency, spotRate } = line;
  const worth = formatMajorAmount(BigInt(functionalAmount), exponentOf(currency));
  if (typeof transactionAmount !== "string" || typeof transactionCurrency !== "string") {
    return worth;
  }
  const from = exponentOf(transactionCurrency);
  const amount = BigInt(transactionAmount);
  const rate = typeof spotRate === "number" ? parseRate(String(spotRate)) : null;
  const atRate = rate === null ? null : exchange(amount, rate, { from, to: exponentOf(currency) });
  const text = [
    `${formatMajorAmount(amount, from)} ${transactionCurrency}`,
    ...(rate === null ? [] : [`@ ${String(spotRate)}`]),
    ...(atRate === BigInt(functionalAmount) ? [] : [`@@ ${worth}`]),
  ].join(" ");
  const read = parseTypedAmount("", text, { allowUnknownCurrency: true });
  if (read?.currency === transactionCurrency) return text;
  throw usageFailure(
    `a line is in ${JSON.stringify(transactionCurrency)}, which can't be edited: post the entry from a file`,
  );
}

/** A text of one line that is read as it is. */
function written(text: string): string {
  const isPlain = text === text.trim() && !text.startsWith('"') && printable(text) === text;
  return isPlain ? text : JSON.stringify(text);
}

/** Quoted where a part of it would be read as something else. */
function writtenCode(code: string): string {
  const isAmbiguous = /^#|;|\s[+-]?[0-9]/.test(code) || labelLine.test(code);
  return isAmbiguous ? JSON.stringify(code) : written(code);
}

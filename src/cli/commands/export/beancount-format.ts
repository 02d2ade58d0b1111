// The format of beancount, versions 2 and 3.
import type { EntryLine } from "../../../client/ledger-client.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import { decimalText, exactPrice, isTotalExact } from "./beancount-price.ts";
import {
  labelsOf,
  lineValue,
  magnitude,
  major,
  titleOf,
  type JournalSyntax,
} from "./journal-format.ts";
import { commodityName } from "./journal-names.ts";

/** Before every entry that there can be: beancount refuses entries dated before their accounts are opened. */
const beginning = "0001-01-01";

export const beancountSyntax: JournalSyntax = {
  head: ({ id, name, functionalCurrency }, contents) =>
    [
      `; ledger ${id}, ${contents}`,
      `option "title" ${quoted(name ?? `Ledger ${id}`)}`,
      ...(functionalCurrency === null
        ? []
        : [`option "operating_currency" "${commodityName(functionalCurrency)}"`]),
      // Amounts of more than 28 digits are weighed inexactly, which must not unbalance what has no decimals.
      'option "inferred_tolerance_default" "*:0.000001"',
      'plugin "beancount.plugins.implicit_prices"\n\n',
    ].join("\n"),

  account: (full, { glAccountCode, name }) =>
    `${beginning} open ${full}\n${metaLines("  ", { code: glAccountCode, name })}`,

  commodity: (currency) => {
    const name = commodityName(currency);
    const code = name === currency ? null : currency;
    return `${beginning} commodity ${name}\n${metaLines("  ", { code })}`;
  },

  title: (entry) => {
    const { journalId, ...labels } = labelsOf(entry);
    const meta = { journalId, sequence: String(entry.sequence), ...labels };
    const title = `${entry.transactionDate.slice(0, 10)} * ${quoted(titleOf(entry))}\n`;
    return title + metaLines("  ", meta);
  },

  posting: (account, line, exponentOf) => {
    const { number, currency, isForeign, isRevaluation } = lineValue(line, exponentOf);
    const price = isForeign ? ` ${priceOf(line, exponentOf)}` : "";
    // An amount, no text: beancount shows amounts with as many decimals as most of those that it has read have.
    const value = isForeign ? `    functional: ${functionalText(line, exponentOf)}\n` : "";
    const meta = {
      lineDescription: line.description,
      spotRate: line.spotRate === null ? null : String(line.spotRate),
      revalues: isRevaluation ? line.transactionCurrency : null,
    };
    const amount = `${number} ${commodityName(currency)}${price}`;
    return `  ${account}  ${amount}\n${value}${metaLines("    ", meta)}`;
  },
};

/** The total price where beancount weighs it exactly, else a price of one with all the digits that takes. */
function priceOf(line: EntryLine, exponentOf: ExponentOf): string {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  const [units, total] = [magnitude(transactionAmount), magnitude(functionalAmount)];
  const commodity = commodityName(functionalCurrency);
  if (isTotalExact(units, total)) {
    return `@@ ${major(total, functionalCurrency, exponentOf)} ${commodity}`;
  }
  const { coefficient, exponent } = exactPrice(units, total);
  const shift = exponentOf(transactionCurrency) - exponentOf(functionalCurrency);
  return `@ ${decimalText({ coefficient, exponent: exponent + shift })} ${commodity}`;
}

function functionalText(line: EntryLine, exponentOf: ExponentOf): string {
  const { functionalAmount, functionalCurrency } = line;
  const number = major(BigInt(functionalAmount), functionalCurrency, exponentOf);
  return `${number} ${commodityName(functionalCurrency)}`;
}

/** Members that are null are left out. */
function metaLines(indent: string, meta: Readonly<Record<string, string | null>>): string {
  return Object.entries(meta)
    .flatMap(([key, value]) => (value === null ? [] : [`${indent}${key}: ${quoted(value)}\n`]))
    .join("");
}

/** A string of beancount; its escapes are those of C. */
function quoted(text: string): string {
  const escaped = text
    .replace(/[\\"]/g, "\\$&")
    .replace(/\n/g, "\\n")
    .replace(/\r/g, "\\r")
    .replace(/\t/g, "\\t");
  return `"${escaped}"`;
}

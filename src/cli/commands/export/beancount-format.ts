// The format of beancount, versions 2 and 3.
import type { Account, Entry, Ledger, EntryLine } from "../../../client/ledger-client.ts";
import { currencyExponent } from "../../../core/currencies.ts";
import { toJson } from "../../terminal/output.ts";
import { decimalText, exactPrice, isTotalExact } from "./beancount-price.ts";
import { apart, titleOf, type ExportWriter } from "./export-format.ts";
import { accountName, commodityName } from "./journal-names.ts";
import { lineValue, major } from "./journal-line.ts";

/** Before every entry that there can be: beancount refuses entries dated before their accounts are opened. */
const beginning = "0001-01-01";

export class BeancountFormat implements ExportWriter {
  readonly #names = new Map<string, string>();
  readonly #commodities = new Set<string>();

  head(ledger: Ledger, contents: string): string {
    const { id, name, functionalCurrency } = ledger;
    return [
      `; ledger ${id}, ${contents}`,
      `option "title" ${quoted(name)}`,
      `option "operating_currency" "${commodityName(functionalCurrency)}"`,
      // Amounts of more than 28 digits are weighed inexactly, which must not unbalance what has no decimals.
      'option "inferred_tolerance_default" "*:0.000001"',
      'plugin "beancount.plugins.implicit_prices"',
      "",
      this.#commodity(functionalCurrency),
    ].join("\n");
  }

  accounts(accounts: readonly Account[]): string {
    return accounts
      .map(({ glAccountCode, name, type }) => {
        const full = accountName(glAccountCode, type);
        this.#names.set(glAccountCode, full);
        const meta = `  code: ${quoted(glAccountCode)}\n  name: ${quoted(name)}\n`;
        return `${beginning} open ${full}\n${meta}`;
      })
      .join("");
  }

  entry(entry: Entry): string {
    const { transactionDate, lines } = entry;
    const declared = lines
      .map(({ transactionCurrency }) => this.#commodity(transactionCurrency))
      .join("");
    const title = `\n${transactionDate.slice(0, 10)} * ${quoted(titleOf(entry))}\n`;
    const postings = lines.map((line) => this.#posting(line));
    return [apart(declared), title, metaLines("  ", metaOf(entry)), ...postings].join("");
  }

  #posting(line: EntryLine): string {
    const { number, currency, isForeign, isRevaluation } = lineValue(line);
    const account = this.#names.get(line.glAccountCode) ?? accountName(line.glAccountCode, null);
    const price = isForeign ? ` ${priceOf(line)}` : "";
    // An amount, no text: beancount shows amounts with as many decimals as most of those that it has read have.
    const value = isForeign ? `    functional: ${functionalText(line)}\n` : "";
    const meta = {
      lineDescription: line.description,
      spotRate: line.spotRate === null ? null : String(line.spotRate),
      revalues: isRevaluation ? line.transactionCurrency : null,
    };
    const amount = `${number} ${commodityName(currency)}${price}`;
    return `  ${account}  ${amount}\n${value}${metaLines("    ", meta)}`;
  }

  #commodity(currency: string): string {
    if (this.#commodities.has(currency)) return "";
    this.#commodities.add(currency);
    const name = commodityName(currency);
    const code = name === currency ? null : currency;
    return `${beginning} commodity ${name}\n${metaLines("  ", { code })}`;
  }
}

/** The total price where beancount weighs it exactly, else a price of one with all the digits that takes. */
function priceOf(line: EntryLine): string {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  const [units, total] = [magnitude(transactionAmount), magnitude(functionalAmount)];
  const commodity = commodityName(functionalCurrency);
  if (isTotalExact(units, total)) return `@@ ${major(total, functionalCurrency)} ${commodity}`;
  const { coefficient, exponent } = exactPrice(units, total);
  const shift = currencyExponent(transactionCurrency) - currencyExponent(functionalCurrency);
  return `@ ${decimalText({ coefficient, exponent: exponent + shift })} ${commodity}`;
}

function functionalText({ functionalAmount, functionalCurrency }: EntryLine): string {
  return `${major(BigInt(functionalAmount), functionalCurrency)} ${commodityName(functionalCurrency)}`;
}

function magnitude(amount: string): bigint {
  return BigInt(amount.replace("-", ""));
}

function metaOf(entry: Entry): Record<string, string | null> {
  const { metadata, entryType } = entry;
  return {
    journalId: entry.journalId,
    sequence: String(entry.sequence),
    at: entry.transactionDate,
    externalId: entry.externalId,
    entryType: entryType === "STANDARD" ? null : entryType,
    eventType: entry.eventType,
    originSystem: entry.originSystem,
    originAccount: entry.originAccount,
    reverses: entry.reversesJournalId,
    reversedBy: entry.reversedByJournalId,
    metadata: Object.keys(metadata).length === 0 ? null : toJson(metadata),
  };
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

// The journal format of hledger (and ledger): https://hledger.org/hledger.html#journal
import type { Entry, EntryLine } from "../../../client/ledger-client.ts";
import type { AccountType } from "../../../core/ledger.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import {
  labelsOf,
  lineValue,
  magnitude,
  major,
  titleOf,
  type JournalSyntax,
} from "./journal-format.ts";
import { commodityName } from "./journal-names.ts";

const accountTypes: Readonly<Record<AccountType, string>> = {
  asset: "A",
  liability: "L",
  equity: "E",
  income: "R",
  expense: "X",
};

export const hledgerSyntax: JournalSyntax = {
  head: ({ id, name }, contents) => {
    const named = name === null ? "" : `${quoted(name)}, `;
    return `; ${named}ledger ${id}, ${contents}\ndecimal-mark .\n\n`;
  },

  account: (full, { glAccountCode, name, type }) => {
    const typed = type === null ? "" : `type: ${accountTypes[type]}, `;
    const named = name === null ? "" : `, name: ${quoted(name)}`;
    return `account ${full}  ; ${typed}code: ${quoted(glAccountCode)}${named}\n`;
  },

  commodity: (currency, exponentOf) => {
    const decimals = "0".repeat(exponentOf(currency));
    const code = commodityName(currency) === currency ? "" : `  ; code: ${quoted(currency)}`;
    return `commodity 1000.${decimals} ${symbol(currency)}${code}\n`;
  },

  title: (entry) => {
    const shown = oneLine(titleOf(entry));
    const title = `${entry.transactionDate.slice(0, 10)} * (${entry.sequence}) ${shown}`.trimEnd();
    return [`${title}\n`, ...tagLines(entry, shown)].join("");
  },

  posting: (account, line, exponentOf) => {
    const { number, currency, isForeign, isRevaluation } = lineValue(line, exponentOf);
    const price = isForeign ? ` @@ ${totalPrice(line, exponentOf)}` : "";
    const notes = [
      ...(line.description === null ? [] : [`lineDescription: ${quoted(line.description)}`]),
      ...(line.spotRate === null ? [] : [`spotRate: ${line.spotRate}`]),
      ...(isRevaluation ? [`revalues: ${quoted(line.transactionCurrency)}`] : []),
    ];
    const comment = notes.length === 0 ? "" : `  ; ${notes.join(", ")}`;
    return `    ${account}  ${number} ${symbol(currency)}${price}${comment}\n`;
  },
};

/** What all of a foreign amount is worth, without a sign: hledger rounds nothing of it. */
function totalPrice(line: EntryLine, exponentOf: ExponentOf): string {
  const { functionalAmount, functionalCurrency } = line;
  const total = major(magnitude(functionalAmount), functionalCurrency, exponentOf);
  return `${total} ${symbol(functionalCurrency)}`;
}

/** Only letters can stand without quotes. */
function symbol(currency: string): string {
  const name = commodityName(currency);
  return /^[A-Z]+$/.test(name) ? name : `"${name}"`;
}

/** Tags that hold nothing which hledger would read something out of. */
const plainTags = new Set(["journalId", "entryType", "reverses", "reversedBy"]);

/** An entry's labels, a tag each; its description only where the title says less. */
function tagLines(entry: Entry, shown: string): string[] {
  const { metadata, ...labels } = labelsOf(entry);
  const description = shown === entry.description ? null : entry.description;
  return Object.entries({ ...labels, description, metadata }).flatMap(([tag, value]) =>
    value === null ? [] : [`    ; ${tag}: ${plainTags.has(tag) ? value : quoted(value)}\n`],
  );
}

/** A title ends at its line's end or at a semicolon; blanks at its ends would be lost. */
function oneLine(text: string): string {
  return text
    .replace(/;/g, ",")
    .replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, " ")
    .trim();
}

/**
 * A text as a JSON string in a comment. What hledger would read something out of is escaped: a colon (a tag, even a
 * date), a comma (the end of a tag's value), brackets (a date), and whatever may end a line.
 */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[:,[\]\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

// The journal format of hledger (and ledger): https://hledger.org/hledger.html#journal
import type { Account, Entry, Ledger, EntryLine } from "../../../client/ledger-client.ts";
import { currencyExponent } from "../../../core/currencies.ts";
import type { AccountType } from "../../../core/ledger.ts";
import { toJson } from "../../terminal/output.ts";
import { apart, titleOf, type ExportWriter } from "./export-format.ts";
import { accountName, commodityName } from "./journal-names.ts";
import { lineValue, major } from "./journal-line.ts";

const accountTypes: Readonly<Record<AccountType, string>> = {
  asset: "A",
  liability: "L",
  equity: "E",
  income: "R",
  expense: "X",
};

export class HledgerFormat implements ExportWriter {
  readonly #names = new Map<string, string>();
  readonly #commodities = new Set<string>();

  head(ledger: Ledger, contents: string): string {
    const { id, name, functionalCurrency } = ledger;
    return [
      `; ${quoted(name)}, ledger ${id}, ${contents}`,
      "decimal-mark .",
      "",
      this.#commodity(functionalCurrency),
    ].join("\n");
  }

  accounts(accounts: readonly Account[]): string {
    return accounts
      .map(({ glAccountCode, name, type }) => {
        const full = accountName(glAccountCode, type);
        this.#names.set(glAccountCode, full);
        const typed = type === null ? "" : `type: ${accountTypes[type]}, `;
        return `account ${full}  ; ${typed}code: ${quoted(glAccountCode)}, name: ${quoted(name)}\n`;
      })
      .join("");
  }

  entry(entry: Entry): string {
    const { transactionDate, sequence, lines } = entry;
    const shown = oneLine(titleOf(entry));
    const declared = lines
      .map(({ transactionCurrency }) => this.#commodity(transactionCurrency))
      .join("");
    const tags = Object.entries(tagsOf(entry, shown)).flatMap(([tag, value]) =>
      value === null ? [] : [`    ; ${tag}: ${value}\n`],
    );
    const title = `${transactionDate.slice(0, 10)} * (${sequence}) ${shown}`.trimEnd();
    const postings = lines.map((line) => this.#posting(line));
    return [apart(declared), `\n${title}\n`, ...tags, ...postings].join("");
  }

  #posting(line: EntryLine): string {
    const { number, currency, isForeign, isRevaluation } = lineValue(line);
    const account = this.#names.get(line.glAccountCode) ?? accountName(line.glAccountCode, null);
    const price = isForeign ? ` @@ ${totalPrice(line)}` : "";
    const notes = [
      ...(line.description === null ? [] : [`lineDescription: ${quoted(line.description)}`]),
      ...(line.spotRate === null ? [] : [`spotRate: ${line.spotRate}`]),
      ...(isRevaluation ? [`revalues: ${quoted(line.transactionCurrency)}`] : []),
    ];
    const comment = notes.length === 0 ? "" : `  ; ${notes.join(", ")}`;
    return `    ${account}  ${number} ${symbol(currency)}${price}${comment}\n`;
  }

  /** Declares a commodity where it is met first; hledger takes declarations anywhere. */
  #commodity(currency: string): string {
    if (this.#commodities.has(currency)) return "";
    this.#commodities.add(currency);
    const decimals = "0".repeat(currencyExponent(currency));
    const name = commodityName(currency);
    const code = name === currency ? "" : `  ; code: ${quoted(currency)}`;
    return `commodity 1000.${decimals} ${symbol(currency)}${code}\n`;
  }
}

/** What all of a foreign amount is worth, without a sign: hledger rounds nothing of it. */
function totalPrice({ functionalAmount, functionalCurrency }: EntryLine): string {
  const total = BigInt(functionalAmount.replace("-", ""));
  return `${major(total, functionalCurrency)} ${symbol(functionalCurrency)}`;
}

/** Only letters can stand without quotes. */
function symbol(currency: string): string {
  const name = commodityName(currency);
  return /^[A-Z]+$/.test(name) ? name : `"${name}"`;
}

/** What of an entry is neither in its title nor in its postings; a description only where the title says less. */
function tagsOf(entry: Entry, shown: string): Record<string, string | null> {
  const { journalId, transactionDate, externalId, entryType, description, metadata } = entry;
  const text = (value: string | null) => (value === null ? null : quoted(value));
  return {
    journalId,
    // A colon would begin another tag.
    at: quoted(transactionDate),
    externalId: text(externalId),
    entryType: entryType === "STANDARD" ? null : entryType,
    eventType: text(entry.eventType),
    originSystem: text(entry.originSystem),
    originAccount: text(entry.originAccount),
    reverses: entry.reversesJournalId,
    reversedBy: entry.reversedByJournalId,
    description: shown === description ? null : text(description),
    metadata: Object.keys(metadata).length === 0 ? null : quoted(toJson(metadata)),
  };
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

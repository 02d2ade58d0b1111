// What the journals of hledger and beancount have in common: accounts and commodities are declared before their use.
import type { Entry, EntryLine } from "../../../client/ledger-client.ts";
import { formatMajorAmount } from "../../../core/money.ts";
import type { ExponentOf } from "../../connection/exponents.ts";
import { toJson } from "../../terminal/output.ts";
import type { ExportedAccount, ExportedLedger, ExportWriter } from "./export-format.ts";
import { accountName } from "./journal-names.ts";

/** What each of them writes in its own way. Texts end with a line end. */
export interface JournalSyntax {
  readonly head: (ledger: ExportedLedger, contents: string) => string;
  readonly account: (name: string, account: ExportedAccount) => string;
  readonly commodity: (currency: string, exponentOf: ExponentOf) => string;
  /** An entry's first line, and what is said of all of it. */
  readonly title: (entry: Entry) => string;
  readonly posting: (accountName: string, line: EntryLine, exponentOf: ExponentOf) => string;
}

/** Makes the writer of one journal: it remembers the accounts and commodities that it has declared. */
export function journalFormat(syntax: JournalSyntax, exponentOf: ExponentOf): ExportWriter {
  const names = new Map<string, string>();
  const commodities = new Set<string>();
  // A commodity is declared where it is met first: declarations may stand anywhere.
  const declare = (currency: string) => {
    if (commodities.has(currency)) return "";
    commodities.add(currency);
    return syntax.commodity(currency, exponentOf);
  };
  return {
    head: (ledger, contents) => {
      const { functionalCurrency } = ledger;
      const declared = functionalCurrency === null ? "" : declare(functionalCurrency);
      return syntax.head(ledger, contents) + declared;
    },

    account: (account) => {
      const name = accountName(account.glAccountCode, account.type);
      names.set(account.glAccountCode, name);
      return syntax.account(name, account);
    },

    entry: (entry) => {
      const { lines } = entry;
      const declared = lines
        .map(({ transactionCurrency }) => declare(transactionCurrency))
        .join("");
      const postings = lines.map((line) => {
        const code = line.glAccountCode;
        return syntax.posting(names.get(code) ?? accountName(code, null), line, exponentOf);
      });
      const apart = declared === "" ? "" : `\n${declared}`;
      return [apart, `\n${syntax.title(entry)}`, ...postings].join("");
    },
  };
}

/** What an entry is called where there is room for one line: what it says of itself, else what kind it is. */
export function titleOf({ description, eventType, entryType }: Entry): string {
  return description ?? eventType ?? (entryType === "STANDARD" ? "" : entryType);
}

/** What of an entry is neither in its title nor in its postings; null is left out. */
export function labelsOf(entry: Entry) {
  const { entryType, metadata } = entry;
  return {
    journalId: entry.journalId,
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

interface LineValue {
  readonly number: string;
  readonly currency: string;
  /** Whether it is in a currency that needs a price in functional currency. */
  readonly isForeign: boolean;
  /** Functional value alone: the amount in transaction currency is zero, and nothing has a price of nothing. */
  readonly isRevaluation: boolean;
}

/** What a line of an entry is worth. */
export function lineValue(line: EntryLine, exponentOf: ExponentOf): LineValue {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  const isOwn = transactionCurrency === functionalCurrency;
  const isRevaluation = !isOwn && transactionAmount === "0";
  const isForeign = !isOwn && !isRevaluation;
  const currency = isForeign ? transactionCurrency : functionalCurrency;
  const amount = BigInt(isForeign ? transactionAmount : functionalAmount);
  return { number: major(amount, currency, exponentOf), currency, isForeign, isRevaluation };
}

/** An amount in smallest units as a number in major units. */
export function major(amount: bigint, currency: string, exponentOf: ExponentOf): string {
  return formatMajorAmount(amount, exponentOf(currency));
}

/** An amount without its sign. */
export function magnitude(amount: string): bigint {
  return BigInt(amount.replace("-", ""));
}

// What a line of an entry is worth, as hledger and beancount both write it.
import type { EntryLine } from "../../../client/ledger-client.ts";
import { currencyExponent } from "../../../core/currencies.ts";
import { formatMajorAmount } from "../../../core/money.ts";

export interface LineValue {
  readonly number: string;
  readonly currency: string;
  /** Whether it is in a currency that needs a price in functional currency. */
  readonly isForeign: boolean;
  /** Functional value alone: the amount in transaction currency is zero, and nothing has a price of nothing. */
  readonly isRevaluation: boolean;
}

export function lineValue(line: EntryLine): LineValue {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  const isOwn = transactionCurrency === functionalCurrency;
  const isRevaluation = !isOwn && transactionAmount === "0";
  const isForeign = !isOwn && !isRevaluation;
  const currency = isForeign ? transactionCurrency : functionalCurrency;
  const amount = BigInt(isForeign ? transactionAmount : functionalAmount);
  return { number: major(amount, currency), currency, isForeign, isRevaluation };
}

/** An amount in smallest units as a number in major units. */
export function major(amount: bigint, currency: string): string {
  return formatMajorAmount(amount, currencyExponent(currency));
}

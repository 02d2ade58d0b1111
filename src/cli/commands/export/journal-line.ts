// What a line of an entry is worth, as hledger and beancount both write it.
import type { WireLine } from "../../../client/ledger-client.ts";
import { currencyExponent } from "../../../core/currencies.ts";
import { formatMajorAmount } from "../../../core/money.ts";

export interface LineValue {
  readonly number: string;
  readonly currency: string;
  /** What all of it is worth in functional currency, without a sign; null where it is in that already. */
  readonly cost: { readonly number: string; readonly currency: string } | null;
  /** Functional value alone: the amount in transaction currency is zero, and nothing has a price of nothing. */
  readonly isRevaluation: boolean;
}

/** A foreign amount has its total price, `300.00 EUR @@ 325.50 USD`: no rounding comes in. */
export function lineValue(line: WireLine): LineValue {
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } = line;
  const functional = BigInt(functionalAmount);
  if (transactionCurrency === functionalCurrency || transactionAmount === "0") {
    return {
      ...{
        number: major(functional, functionalCurrency),
        currency: functionalCurrency,
        cost: null,
      },
      isRevaluation: transactionCurrency !== functionalCurrency,
    };
  }
  const size = functional < 0n ? -functional : functional;
  return {
    number: major(BigInt(transactionAmount), transactionCurrency),
    currency: transactionCurrency,
    cost: { number: major(size, functionalCurrency), currency: functionalCurrency },
    isRevaluation: false,
  };
}

function major(amount: bigint, currency: string): string {
  return formatMajorAmount(amount, currencyExponent(currency));
}

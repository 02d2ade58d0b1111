// The amounts of an entry's line as somebody types them: `+125.00`, or in another currency `+1000.00USD@0.92`.
import type { EntryLineInput } from "../../client/ledger-client.ts";
import { parseAssetCode } from "../../core/asset.ts";
import { exchange } from "../../core/exchange.ts";
import { parseMajorAmount } from "../../core/money.ts";
import type { ExponentOf } from "../connection/exponents.ts";
import { usageFailure } from "../failure.ts";
import { refuseUnknownCurrency, type CurrencyFlags } from "./currency-guard.ts";
import { requireRate, spotRateOf, type GivenRate } from "./rates.ts";

/** Only its form was looked at: what it comes to depends on the ledger. */
export interface TypedAmount {
  readonly amount: string;
  /** Null: that of the ledger. */
  readonly currency: string | null;
  readonly rate: GivenRate | null;
  /** What it is worth in the ledger's currency. */
  readonly worth: string | null;
}

/** What amounts are of, where nothing else is said, and how they are written. */
export interface LedgerUnits {
  readonly functionalCurrency: string;
  readonly exponentOf: ExponentOf;
  /** Amounts are in major units, such as 125.00, or else in smallest ones. */
  readonly isMajor: boolean;
}

type LineAmounts = Omit<EntryLineInput, "glAccountCode">;

/** AMOUNT, then a currency, which begins with a letter, then `@` and a rate, then `@@` and what it is worth. */
const form =
  /^([+-]?[0-9]+(?:\.[0-9]+)?)(?:\s*([A-Za-z][A-Za-z0-9_./-]*)(?:\s*@\s*([^@\s]+))?(?:\s*@@\s*([^@\s]+))?)?$/;

/** Reads an amount, or null where the text has not its form. Throws a usage failure for its currency or rate. */
export function parseTypedAmount(
  argument: string,
  text: string,
  flags: CurrencyFlags,
): TypedAmount | null {
  const [, amount, code, rate, worth = null] = form.exec(text) ?? [];
  if (amount === undefined) return null;
  const currency = code === undefined ? null : parseAssetCode(code);
  if (code !== undefined && currency === null) {
    throw usageFailure(`${argument}: a currency has 1 to 32 letters, digits or _ . / -`);
  }
  if (currency !== null) refuseUnknownCurrency(argument, currency, flags);
  return {
    amount,
    currency,
    rate: rate === undefined ? null : requireRate(argument, rate),
    worth,
  };
}

/**
 * The members of a line with such an amount, in smallest units. What another currency is worth is the amount at the rate,
 * rounded once, half to even, or what was typed for it. Throws a usage failure that begins with `argument`.
 */
export function amountsOfLine(
  argument: string,
  typed: TypedAmount,
  units: LedgerUnits,
): LineAmounts {
  const { functionalCurrency } = units;
  const currency = typed.currency ?? functionalCurrency;
  const amount = readAmount(argument, typed.amount, currency, units);
  if (currency === functionalCurrency) {
    if (typed.rate === null && typed.worth === null) return { functionalAmount: String(amount) };
    throw usageFailure(`${argument}: ${currency} is the ledger's own currency, and has no rate`);
  }
  const worth = worthOf(argument, amount, currency, typed, units);
  if (worth === 0n) {
    throw usageFailure(
      `${argument}: it comes to 0 ${functionalCurrency}, and a line has to be worth something`,
    );
  }
  const spotRate = typed.rate === null ? null : spotRateOf(typed.rate);
  return {
    functionalAmount: String(worth),
    transactionAmount: String(amount),
    transactionCurrency: currency,
    ...(spotRate === null ? {} : { spotRate }),
  };
}

function worthOf(
  argument: string,
  amount: bigint,
  currency: string,
  { rate, worth }: TypedAmount,
  units: LedgerUnits,
): bigint {
  const { functionalCurrency, exponentOf } = units;
  if (worth !== null) {
    const total = readAmount(argument, worth, functionalCurrency, units);
    // As in hledger, it is of the amount's side, and needs no sign; 0 has no side.
    if (amount < 0n && total > 0n) return -total;
    if (amount <= 0n || total >= 0n) return total;
    throw usageFailure(`${argument}: what is behind @@ has another sign than the amount`);
  }
  if (rate === null) {
    throw usageFailure(
      `${argument}: ${currency} is not the ledger's currency: add what it is worth, as @RATE (${functionalCurrency} ` +
        `for one ${currency}) or as @@AMOUNT`,
    );
  }
  const exponents = { from: exponentOf(currency), to: exponentOf(functionalCurrency) };
  return exchange(amount, rate.rate, exponents);
}

function readAmount(
  argument: string,
  text: string,
  currency: string,
  { exponentOf, isMajor }: LedgerUnits,
): bigint {
  if (isMajor) {
    const { amount, fault } = parseMajorAmount(text, exponentOf(currency));
    if (fault !== undefined) throw usageFailure(`${argument}: ${currency} ${text} ${fault}`);
    return amount;
  }
  if (/^[+-]?[0-9]+$/.test(text)) return BigInt(text.replace(/^\+/, ""));
  const hint = /^[+-]?[0-9]+\.[0-9]+$/.test(text) ? "; with --major it may have decimals" : "";
  throw usageFailure(`${argument}: ${text} is no whole number${hint}`);
}

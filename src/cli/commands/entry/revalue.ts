// `entry revalue`: brings the foreign balances of assets and liabilities to what they are worth at a day's rates.
import type { Environment } from "../../../config.ts";
import type { Account, EntryLineInput } from "../../../client/ledger-client.ts";
import { exchange } from "../../../core/exchange.ts";
import { descriptionCodePointsMax } from "../../../core/text.ts";
import type { Timestamp } from "../../../core/time.ts";
import { requireActiveAccount } from "../../input/account-suggestion.ts";
import { momentAfter, requireLastMoment } from "../../input/arguments.ts";
import type { CurrencyFlags } from "../../input/currency-guard.ts";
import { requireRates, spotRateOf, type GivenRate } from "../../input/rates.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { Exponents, type ExponentOf } from "../../connection/exponents.ts";
import { usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { sumLines, type LineSum } from "./line-sums.ts";
import { divideLines, postMade, type MadeEntry } from "./made-entries.ts";

export interface RevalueFlags extends ServiceFlags, CurrencyFlags {
  rate: string[];
  date: string;
  gains: string;
  losses: string;
  dryRun?: boolean;
}

interface Revaluation {
  readonly rates: ReadonlyMap<string, GivenRate>;
  readonly date: Timestamp;
  readonly gains: string;
  readonly losses: string;
  readonly functionalCurrency: string;
  readonly exponentOf: ExponentOf;
}

export async function revalueAccounts(
  flags: RevalueFlags,
  environment: Environment,
): Promise<ExitCode> {
  const rates = requireRates(flags.rate, flags);
  const date = requireLastMoment("--date", flags.date);
  return withService(
    flags,
    environment,
    async (context) => {
      const { client, ledgerId } = context;
      const id = ledgerId();
      const { functionalCurrency } = await client.getLedger(id);
      if (rates.has(functionalCurrency)) {
        throw usageFailure(`--rate: ${functionalCurrency} is the ledger's own currency`);
      }
      const accounts = await client.listAccounts(id);
      requireActiveAccount(accounts, "--gains", flags.gains);
      requireActiveAccount(accounts, "--losses", flags.losses);
      const exponents = new Exponents(client, id);
      await exponents.learn([functionalCurrency, ...rates.keys()]);
      const { gains, losses } = flags;
      const exponentOf = exponents.of;
      const revaluation = { rates, date, gains, losses, functionalCurrency, exponentOf };
      const prefix = `revalue:${date}`;
      const make = () => revaluingEntries(context, accounts, revaluation);
      return postMade(context, { prefix, isDryRun: flags.dryRun === true }, make);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

async function revaluingEntries(
  context: ServiceContext,
  accounts: readonly Account[],
  revaluation: Revaluation,
): Promise<MadeEntry[]> {
  const { client, ledgerId, output } = context;
  const { rates, date, functionalCurrency } = revaluation;
  const typeOf = new Map(accounts.map(({ glAccountCode, type }) => [glAccountCode, type]));
  // What is dated at this very moment is in, too: an earlier revaluation, for one.
  const query = { to: momentAfter(date) };
  const sums = await sumLines(
    client,
    ledgerId(),
    query,
    ({ glAccountCode, transactionCurrency }) =>
      transactionCurrency !== functionalCurrency &&
      ["asset", "liability", null].includes(typeOf.get(glAccountCode) ?? null),
  );
  const valued = sums.filter(({ glAccountCode, currency }) => {
    return rates.has(currency) && (typeOf.get(glAccountCode) ?? null) !== null;
  });
  noteLeftOut(context, sums, valued, rates);
  const lines = valued.flatMap((sum) => revaluingLine(sum, revaluation) ?? []);
  if (lines.length === 0)
    output.note("nothing to revalue: the balances are at these rates already");
  else noteChanges(context, lines, revaluation);
  return divideLines(
    lines.map((line) => [line]),
    2,
  ).map((part) => entryOf(part, revaluation));
}

/** What a foreign balance gains or loses; null for nothing. */
function revaluingLine(
  { glAccountCode, currency, transaction, functional }: LineSum,
  { rates, functionalCurrency, exponentOf }: Revaluation,
): EntryLineInput | null {
  const given = rates.get(currency);
  if (given === undefined) return null;
  const exponents = { from: exponentOf(currency), to: exponentOf(functionalCurrency) };
  const change = exchange(transaction, given.rate, exponents) - functional;
  if (change === 0n) return null;
  const spotRate = spotRateOf(given);
  return {
    glAccountCode,
    functionalAmount: String(change),
    transactionAmount: "0",
    transactionCurrency: currency,
    ...(spotRate === null ? {} : { spotRate }),
    description: `${displayAmount(transaction, currency, exponents.from)} at ${given.text}`,
  };
}

function entryOf(
  lines: readonly EntryLineInput[],
  { rates, date, gains, losses }: Revaluation,
): MadeEntry {
  const amounts = lines.map(({ functionalAmount }) => BigInt(functionalAmount));
  const gained = sumOf(amounts.filter((amount) => amount > 0n));
  const lost = sumOf(amounts.filter((amount) => amount < 0n));
  const against = [
    { glAccountCode: gains, functionalAmount: String(-gained) },
    { glAccountCode: losses, functionalAmount: String(-lost) },
  ].filter(({ functionalAmount }) => functionalAmount !== "0");
  const used = [...rates].map(([currency, { text }]) => [currency, text] as const);
  const title = `Revaluation at ${used.map(([currency, text]) => `${currency} ${text}`).join(", ")}`;
  return {
    transactionDate: date,
    entryType: "ADJUSTING",
    description: title.slice(0, descriptionCodePointsMax),
    metadata: { rates: Object.fromEntries(used) },
    lines: [...lines, ...against],
  };
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

function noteChanges(
  { output }: ServiceContext,
  lines: readonly EntryLineInput[],
  { functionalCurrency, exponentOf }: Revaluation,
): void {
  for (const { glAccountCode, functionalAmount, description } of lines) {
    const amount = displayAmount(
      functionalAmount,
      functionalCurrency,
      exponentOf(functionalCurrency),
    );
    output.note(`${glAccountCode}: ${description ?? ""}: ${amount}`);
  }
}

/** Foreign balances that stay as they are. */
function noteLeftOut(
  { output }: ServiceContext,
  sums: readonly LineSum[],
  valued: readonly LineSum[],
  rates: ReadonlyMap<string, GivenRate>,
): void {
  const left = sums.filter((sum) => sum.transaction !== 0n && !valued.includes(sum));
  const unrated = new Set(left.map(({ currency }) => currency).filter((code) => !rates.has(code)));
  if (unrated.size > 0) {
    output.note(
      `ATTENTION: balances without a --rate stay as they are: ${[...unrated].join(", ")}`,
    );
  }
  const held = new Set(sums.map(({ currency }) => currency));
  const unheld = [...rates.keys()].filter((currency) => !held.has(currency));
  if (unheld.length > 0) output.note(`no asset or liability has lines in ${unheld.join(", ")}`);
  const untyped = left.filter(({ currency }) => rates.has(currency));
  if (untyped.length > 0) {
    const codes = [...new Set(untyped.map(({ glAccountCode }) => glAccountCode))].join(", ");
    output.note(`ATTENTION: accounts without a type are not revalued: ${codes}`);
  }
}

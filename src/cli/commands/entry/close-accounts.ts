// `entry close-accounts`: the closing entry of a period, which brings the movement of each income and expense account to
// zero against one account.
import type { Environment } from "../../../config.ts";
import type { Account, EntryLineInput, TrialBalance } from "../../../client/ledger-client.ts";
import { addMs, type Timestamp } from "../../../core/time.ts";
import { requireActiveAccount } from "../../input/account-suggestion.ts";
import { requirePeriodLabel } from "../../input/arguments.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { dayOrTime } from "../../terminal/short-date.ts";
import { counted } from "../../terminal/counted.ts";
import { sumLines, type LineSum } from "./line-sums.ts";
import { divideLines, postMade, valueOf, type LineGroup, type MadeEntry } from "./made-entries.ts";

export interface CloseAccountsFlags extends ServiceFlags {
  period: string;
  to: string;
  dryRun?: boolean;
}

/** What is closed to which account; `books` is the trial balance of the period. */
interface Closing {
  readonly label: string;
  readonly to: string;
  readonly books: TrialBalance;
}

export async function closeAccounts(
  flags: CloseAccountsFlags,
  environment: Environment,
): Promise<ExitCode> {
  const label = requirePeriodLabel("--period", flags.period);
  return withService(
    flags,
    environment,
    async (context) => {
      const { client, ledgerId } = context;
      const id = ledgerId();
      const accounts = await client.listAccounts(id);
      refuseTarget(accounts, flags.to);
      const books = await client.getTrialBalance(id, { periodId: label });
      noteUntyped(context, books);
      const closing = { label, to: flags.to, books };
      const prefix = `close-accounts:${nameOf(books)}`;
      const make = async () => {
        const sums = await sumResult(context, accounts, books);
        await noteSums(context, sums, closing);
        return closingEntries(sums, closing);
      };
      return postMade(context, { prefix, isDryRun: flags.dryRun === true }, make);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

function isOfResult({ type }: Pick<Account, "type">): boolean {
  return type === "income" || type === "expense";
}

/** The account to close to holds what remains: it can't be one that is closed. */
function refuseTarget(accounts: readonly Account[], code: string): void {
  const target = requireActiveAccount(accounts, "--to", code);
  if (isOfResult(target)) {
    throw usageFailure(
      `--to ${code} is an account of type ${target.type}, which is closed itself; name one of equity, such as retained earnings`,
    );
  }
}

function noteUntyped({ output }: ServiceContext, { accounts }: TrialBalance): void {
  const untyped = accounts.filter(({ type, debits, credits }) => {
    return type === null && BigInt(debits) + BigInt(credits) !== 0n;
  });
  if (untyped.length === 0) return;
  const codes = untyped.map(({ glAccountCode }) => glAccountCode).join(", ");
  output.note(`ATTENTION: accounts without a type are not closed: ${codes}`);
}

/** The same for all labels of the same days. */
function nameOf({ startsAt, endsAt }: TrialBalance): string {
  return `${dayOrTime(startsAt ?? "")}/${dayOrTime(endsAt)}`;
}

/** What income and expense accounts moved in the period of a trial balance. */
function sumResult(
  { client, ledgerId }: ServiceContext,
  accounts: readonly Account[],
  { startsAt, endsAt }: TrialBalance,
): Promise<LineSum[]> {
  const closed = new Set(accounts.filter(isOfResult).map(({ glAccountCode }) => glAccountCode));
  const query = { to: endsAt, ...(startsAt === null ? {} : { from: startsAt }) };
  return sumLines(client, ledgerId(), query, ({ glAccountCode }) => closed.has(glAccountCode));
}

async function noteSums(
  { client, ledgerId, output }: ServiceContext,
  sums: readonly LineSum[],
  { label, to, books: { functionalCurrency: currency } }: Closing,
): Promise<void> {
  if (sums.length === 0) {
    output.note(`nothing is left to close in ${label}`);
    return;
  }
  const exponentOf = await exponentsShown({ client, output }, ledgerId(), [currency]);
  const codes = new Set(sums.map(({ glAccountCode }) => glAccountCode));
  const total = sums.reduce((sum, { functional }) => sum + functional, 0n);
  const amount = displayAmount(total, currency, exponentOf(currency));
  output.note(`${label}: closes ${counted(codes.size, "account")} to ${to}, with ${amount}`);
}

/** Dated at the last moment of the period; an entry holds a thousand lines, so that there may be several. */
function closingEntries(sums: readonly LineSum[], { label, to, books }: Closing): MadeEntry[] {
  const groups = sums.map((sum) => zeroingLines(sum, books.functionalCurrency));
  return divideLines(groups, 1).map((lines) => {
    const value = valueOf(lines);
    const rest = { glAccountCode: to, functionalAmount: String(-value) };
    return {
      transactionDate: addMs(books.endsAt as Timestamp, -1),
      entryType: "CLOSING",
      description: `Closing entry of ${label}`,
      lines: value === 0n ? lines : [...lines, rest],
    };
  });
}

/**
 * The lines that bring the sum of an account in one currency to zero, in both amounts. The two amounts of a line have the
 * same sign, or the transaction's is zero: where the sums have not, two lines do it.
 */
export function zeroingLines(
  { glAccountCode, currency, transaction, functional }: LineSum,
  functionalCurrency: string,
): LineGroup {
  const line = (transactionAmount: bigint, functionalAmount: bigint): EntryLineInput => ({
    glAccountCode,
    functionalAmount: String(functionalAmount),
    ...(currency === functionalCurrency
      ? {}
      : { transactionCurrency: currency, transactionAmount: String(transactionAmount) }),
  });
  const isSameSide = functional !== 0n && transaction > 0n === functional > 0n;
  if (transaction === 0n || isSameSide) return [line(-transaction, -functional)];
  const unit = transaction > 0n ? 1n : -1n;
  return [line(-transaction, -unit), line(0n, unit - functional)];
}

// What the command line reports of a ledger, and what hledger reports of the export: registers, statements, balances.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { accountName } from "../../src/cli/commands/export/journal-names.ts";
import type {
  Account,
  AccountBalance,
  LedgerClient,
  RegisterLine,
  Statement,
} from "../../src/client/ledger-client.ts";
import { documents } from "./cli.ts";
import { hledgerReport } from "./other-books.ts";
import { runHere } from "./program.ts";

/** Books in both programs. */
export interface Books {
  /** Where commands find the ledger. */
  readonly env: Readonly<Record<string, string>>;
  /** hledger's journal: the ledger's own export. */
  readonly file: string;
  readonly accounts: readonly Account[];
  /** Half-open; whole years, quarters or months, as the steps are that are asked for. */
  readonly from: string;
  readonly to: string;
}

export type Step = "month" | "quarter" | "year";

/** Exports a ledger into a folder, once. */
export async function exportBooks(
  { client, env, folder }: { client: LedgerClient; env: Books["env"]; folder: string },
  ledgerId: string,
  [from, to]: readonly [string, string],
): Promise<Books> {
  const file = join(folder, `${ledgerId}.journal`);
  const books = { env: { ...env, LEDGERCTL_LEDGER: ledgerId }, file, from, to };
  if (!existsSync(file)) await done(books, "export", "--format", "hledger", "--out", file);
  return { ...books, accounts: await client.listAccounts(ledgerId) };
}

async function done({ env }: Pick<Books, "env">, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(args, env);
  expect(code, stderr).toBe(0);
  return stdout;
}

const json = async <Document>(books: Books, ...args: string[]): Promise<Document> =>
  JSON.parse(await done(books, ...args, "--json")) as Document;

/** `-1.5 EUR`, as hledger prints it, in cents of a currency with two decimals. */
export function cents(text: string): bigint {
  const [, sign = "", whole = "0", decimals = ""] = /^(-?)([0-9]+)(?:\.([0-9]+))?/.exec(text) ?? [];
  const size = BigInt(whole + decimals.padEnd(2, "0"));
  return sign === "-" ? -size : size;
}

const nameOf = ({ glAccountCode, type }: Account) => accountName(glAccountCode, type);

interface Change {
  readonly day: string;
  readonly sequence: number;
  readonly change: bigint;
  /** After the entry. */
  readonly balance: bigint;
}

/**
 * Day by day what entries change, and the balance at its end: hledger knows no times of a day, and leaves out what comes
 * to nothing.
 */
function byDay(changes: readonly Change[]): Record<string, unknown> {
  const days = new Map<string, { balance: bigint; entries: [number, bigint][] }>();
  for (const { day, sequence, change, balance } of changes) {
    const before = days.get(day)?.entries ?? [];
    before.push([sequence, change]);
    days.set(day, { balance, entries: before });
  }
  const told = [...days].flatMap(([day, { balance, entries }]) => {
    const some = entries.filter(([, change]) => change !== 0n).sort(([x], [y]) => x - y);
    return some.length === 0 ? [] : [[day, { balance, entries: some }] as const];
  });
  return Object.fromEntries(told);
}

/** Of `register --json`, whose lines are summed by entry. */
async function registerOf(books: Books, code: string): Promise<Change[]> {
  const { from, to } = books;
  const printed = await done(books, "register", code, "--from", from, "--to", to, "--json");
  const [first, ...rest] = documents<object>(printed);
  const last = rest.pop();
  expect([Object.keys(first ?? {}), Object.keys(last ?? {})]).toEqual([["opening"], ["closing"]]);
  let balance = BigInt((first as { opening: string }).opening);
  const changes = new Map<number, Change>();
  for (const line of rest as RegisterLine[]) {
    const { sequence, transactionDate } = line;
    balance += BigInt(line.amount);
    expect(line.balance).toBe(String(balance));
    const change = (changes.get(sequence)?.change ?? 0n) + BigInt(line.amount);
    changes.set(sequence, { day: transactionDate.slice(0, 10), sequence, change, balance });
  }
  expect((last as { closing: string }).closing).toBe(String(balance));
  return [...changes.values()];
}

async function hledgerRegister({ file, from, to }: Books, account: Account): Promise<Change[]> {
  const exact = `^${nameOf(account)}$`;
  const rows = await hledgerReport(file, "areg", exact, "-b", from, "-e", to);
  return rows.map(([, day = "", sequence, ...cells]) => {
    const [change = "", balance = ""] = cells.slice(-2);
    return { day, sequence: Number(sequence), change: cents(change), balance: cents(balance) };
  });
}

/** By account: what each column has, without accounts that have nothing in any. */
function amountsOf({ groups }: Statement, accounts: readonly Account[]): Record<string, bigint[]> {
  const byCode = new Map(accounts.map((account) => [account.glAccountCode, account]));
  const rows = groups.flatMap(({ accounts: ofGroup }) =>
    ofGroup.map(({ glAccountCode, amounts }) => {
      const account = byCode.get(glAccountCode);
      if (account === undefined) throw new Error(`${glAccountCode} is in the chart`);
      return [nameOf(account), amounts.map(BigInt)] as const;
    }),
  );
  return withoutZeros(rows);
}

/** The rows of hledger's report that are of accounts. Debits are positive in `balance`, whatever the account. */
async function hledgerAmounts(file: string, ...args: string[]): Promise<Record<string, bigint[]>> {
  const rows = await hledgerReport(file, "balance", "--flat", "--no-total", ...args);
  return withoutZeros(rows.map(([name = "", ...cells]) => [name, cells.map(cents)] as const));
}

function withoutZeros(rows: readonly (readonly [string, bigint[]])[]): Record<string, bigint[]> {
  return Object.fromEntries(
    rows
      .filter(([, row]) => row.some((amount) => amount !== 0n))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** hledger's register of an account has those below it in it: only accounts without any are compared. */
export async function expectRegistersOfHledger(
  books: Books,
  isWanted: (account: Account) => boolean = () => true,
): Promise<void> {
  const names = books.accounts.map(nameOf);
  const lowest = books.accounts.filter(
    (account) => !names.some((name) => name.startsWith(`${nameOf(account)}:`)),
  );
  expect(lowest.length).toBeGreaterThan(books.accounts.length / 2);
  for (const account of lowest.filter(isWanted)) {
    const ours = byDay(await registerOf(books, account.glAccountCode));
    expect(ours, account.glAccountCode).toEqual(byDay(await hledgerRegister(books, account)));
  }
}

/** Balance sheet and income statement, column by column. */
export async function expectStatementsOfHledger(books: Books, step: Step): Promise<void> {
  const flag = { month: "-M", quarter: "-Q", year: "-Y" }[step];
  expect(await statementsOf(books, step)).toEqual(await hledgerStatements(books, flag));
}

/**
 * The statements by month, quarter and year, from what hledger has of each month: it reads large books for seconds, and the
 * end of a quarter is the end of its last month.
 */
export async function expectStatementsOfHledgerMonths(books: Books): Promise<void> {
  const { sheet, income } = await hledgerStatements(books, "-M");
  for (const [step, months] of [
    ["month", 1],
    ["quarter", 3],
    ["year", 12],
  ] as const) {
    expect(await statementsOf(books, step), step).toEqual({
      sheet: inSteps(sheet, months, (part) => part.at(-1) ?? 0n),
      income: inSteps(income, months, (part) => part.reduce((sum, amount) => sum + amount, 0n)),
    });
  }
}

interface Statements {
  readonly sheet: Record<string, bigint[]>;
  readonly income: Record<string, bigint[]>;
}

async function statementsOf(books: Books, step: Step): Promise<Statements> {
  const columns = ["--from", books.from, "--to", books.to, "--by", step];
  const sheet = await json<Statement>(books, "bs", ...columns);
  expect(sheet.balances).toBe(true);
  const income = await json<Statement>(books, "is", ...columns);
  return {
    sheet: amountsOf(sheet, books.accounts),
    income: amountsOf(income, books.accounts),
  };
}

async function hledgerStatements({ file, from, to }: Books, step: string): Promise<Statements> {
  const range = ["-b", from, "-e", to, step];
  const [sheet, income] = await Promise.all([
    hledgerAmounts(file, "--historical", ...range, "^(Assets|Liabilities|Equity)"),
    hledgerAmounts(file, ...range, "^(Income|Expenses)", "not:tag:entryType=CLOSING"),
  ]);
  return { sheet, income };
}

/** So many columns in one. */
function inSteps(
  rows: Record<string, bigint[]>,
  columns: number,
  join: (part: readonly bigint[]) => bigint,
): Record<string, bigint[]> {
  const joined = Object.entries(rows).map(([name, row]) => {
    const starts = row.map((_, index) => index).filter((index) => index % columns === 0);
    return [name, starts.map((start) => join(row.slice(start, start + columns)))] as const;
  });
  return withoutZeros(joined);
}

/**
 * The registers of all accounts, from what hledger has of each posting, and the balances at their end: for large books, which
 * hledger reads for seconds each time.
 */
export async function expectPostingsOfHledger(books: Books): Promise<void> {
  const { file, from, to, accounts } = books;
  const [postings, end] = await Promise.all([
    hledgerReport(file, "register", "-b", from, "-e", to),
    hledgerAmounts(file, "--historical", "-e", to),
  ]);
  await expectBalances(books, end);
  const changes = new Map<string, Map<number, [day: string, change: bigint]>>();
  for (const [, day = "", code, , name = "", amount = ""] of postings) {
    const ofAccount = changes.get(name) ?? new Map<number, [string, bigint]>();
    const [, before] = ofAccount.get(Number(code)) ?? [day, 0n];
    ofAccount.set(Number(code), [day, before + cents(amount)]);
    changes.set(name, ofAccount);
  }
  expect(postings.length).toBeGreaterThan(0);
  for (const account of accounts) {
    const expected = [...(changes.get(nameOf(account)) ?? [])];
    const ours = (await registerOf(books, account.glAccountCode)).map(
      ({ sequence, day, change }) => [sequence, [day, change]] as const,
    );
    const bySequence = <Row>(rows: readonly (readonly [number, Row])[]) =>
      [...rows].sort(([a], [b]) => a - b);
    expect(bySequence(ours), account.glAccountCode).toEqual(bySequence(expected));
  }
}

/** The balance of every account at the end of the range. */
export async function expectBalancesOfHledger(books: Books): Promise<void> {
  await expectBalances(books, await hledgerAmounts(books.file, "--historical", "-e", books.to));
}

async function expectBalances(books: Books, end: Record<string, bigint[]>): Promise<void> {
  const lastDay = new Date(Date.parse(books.to) - 1).toISOString().slice(0, 10);
  for (const account of books.accounts) {
    const shown = await json<AccountBalance>(
      ...([books, "balance", account.glAccountCode, "--as-of", lastDay] as const),
    );
    expect(BigInt(String(shown.balance))).toBe(end[nameOf(account)]?.[0] ?? 0n);
  }
}

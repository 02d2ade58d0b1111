// Trial balances and what moved in them, as tables for people.
import type { TrialBalanceTotals, MovedAccount, TrialBalance } from "../../client/ledger-client.ts";
import { totalsOf, type BalanceRow } from "../../core/close.ts";
import { displayAmount } from "./amounts.ts";
import { csvText } from "./csv-text.ts";
import type { Output } from "./output.ts";

/** Sums over years of books may take minutes. */
export const sumTimeoutMs = 15 * 60_000;

type Balances = Pick<TrialBalance, "accounts" | "totals" | "balanced" | "functionalCurrency">;

type Totals = Readonly<Record<keyof TrialBalanceTotals, bigint | string>>;

/** The columns of the amounts of a trial balance, in major units of a currency with `exponent` decimals. */
export function amountColumns(currency: string | null, exponent: number) {
  const amount = (title: string, name: keyof TrialBalanceTotals) => ({
    title,
    align: "right" as const,
    isAmount: true,
    value: (row: Totals) => displayAmount(row[name], currency, exponent),
  });
  return [
    amount("OPENING", "opening"),
    amount("DEBITS", "debits"),
    amount("CREDITS", "credits"),
    amount("CLOSING", "closing"),
  ];
}

/** The rows and their totals in major units; below them, loudly, when they do not balance. */
export function balanceTable(output: Output, balances: Balances, exponent: number): string {
  const { accounts, totals, balanced, functionalCurrency } = balances;
  const rows = [...accounts, { glAccountCode: "total", name: "", type: null, ...totals }];
  const table = output.table(rows, [
    {
      title: "ACCOUNT",
      cutTo: 12,
      isCutInMiddle: true,
      value: ({ glAccountCode }) => glAccountCode,
    },
    { title: "NAME", cutTo: 12, leaveOut: 2, value: ({ name }) => name },
    { title: "TYPE", leaveOut: 1, value: ({ type }) => type ?? "" },
    ...amountColumns(functionalCurrency, exponent),
  ]);
  return balanced ? table : `${table}\n\n${output.styled(unbalanced, "bad")}`;
}

/** What is said of a trial balance that is none. */
export const unbalanced =
  "IT DOES NOT BALANCE: openings, closings, and debits with credits must each come to zero.";

/** The rows of a close with their totals, in major units where the currency is known. */
export function closedTable(
  output: Output,
  rows: readonly BalanceRow[],
  currency: string | null,
  exponent: number,
): string {
  const total = { glAccountCode: "total", entryCount: null, ...totalsOf(rows) };
  return output.table<Totals & Pick<typeof total, "glAccountCode"> & { entryCount: number | null }>(
    [...rows, total],
    [
      {
        title: "ACCOUNT",
        cutTo: 12,
        isCutInMiddle: true,
        value: ({ glAccountCode }) => glAccountCode,
      },
      ...amountColumns(currency, exponent),
      {
        title: "ENTRIES",
        align: "right",
        leaveOut: 1,
        value: ({ entryCount }) => String(entryCount ?? ""),
      },
    ],
  );
}

/** The rows without their totals as CSV, amounts in smallest units. */
export function balanceCsv({
  accounts,
  functionalCurrency,
}: {
  readonly accounts: readonly (Totals &
    Pick<TrialBalance["accounts"][number], "glAccountCode" | "name" | "type">)[];
  readonly functionalCurrency: string | null;
}): string {
  return csvText(
    ["glAccountCode", "name", "type", "currency", "opening", "debits", "credits", "closing"],
    accounts.map(({ glAccountCode, name, type, opening, debits, credits, closing }) => [
      ...[glAccountCode, name, type, functionalCurrency],
      ...[opening, debits, credits, closing].map(String),
    ]),
  );
}

/** What of accounts is no longer as a close stored it: a line for each figure. */
export function movedTable(
  output: Output,
  moved: readonly MovedAccount[],
  currency: string,
  exponent: number,
): string {
  const amount = (text: string) => displayAmount(text, currency, exponent);
  const rows = moved.flatMap(({ glAccountCode, stored, live }) =>
    [
      { figure: "opening", then: amount(stored.opening), now: amount(live.opening) },
      { figure: "debits", then: amount(stored.debits), now: amount(live.debits) },
      { figure: "credits", then: amount(stored.credits), now: amount(live.credits) },
      { figure: "entries", then: String(stored.entryCount), now: String(live.entryCount) },
    ]
      .filter(({ then, now }) => then !== now)
      .map((row) => ({ glAccountCode, ...row })),
  );
  return output.table(rows, [
    { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
    { title: "FIGURE", value: ({ figure }) => figure },
    { title: "AT THE CLOSE", align: "right", isAmount: true, value: ({ then }) => then },
    { title: "NOW", align: "right", isAmount: true, value: ({ now }) => now },
  ]);
}

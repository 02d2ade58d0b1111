// Balance sheets and income statements: which columns they have, and what of an account's sums is in each. Amounts are in
// smallest units of the functional currency, debits positive.
import type { Account, AccountType } from "./ledger.ts";
import { compareUtf8 } from "./text.ts";
import { timestampFromEpochMs, type Timestamp } from "./time.ts";

export const statementSteps = ["month", "quarter", "year"] as const;
/** How long a column is, in the calendar of UTC. */
export type StatementStep = (typeof statementSteps)[number];

const monthsOf: Readonly<Record<StatementStep, number>> = { month: 1, quarter: 3, year: 12 };

/** Ten years of months. */
export const columnsMax = 120;

/** A half-open interval of transaction dates; null is from the first entry on. */
export interface StatementColumn {
  readonly from: Timestamp | null;
  readonly to: Timestamp;
}

/**
 * The columns of an interval: months, quarters or years of the calendar, of which the first and the last are cut where
 * the interval begins or ends within them. null where they are more than `columnsMax`.
 */
export function columnsOf(
  from: Timestamp,
  to: Timestamp,
  by: StatementStep,
): StatementColumn[] | null {
  const columns: StatementColumn[] = [];
  let start = from;
  while (start < to) {
    if (columns.length === columnsMax) return null;
    const next = nextStep(start, by);
    const end = next === null || next > to ? to : next;
    columns.push({ from: start, to: end });
    start = end;
  }
  return columns;
}

/** When the month, quarter or year begins that a moment is in. */
export function stepStart(moment: Timestamp, by: StatementStep): Timestamp {
  const start = stepAfter(moment, by, 0);
  if (start === null) throw new Error("the step of a moment begins in the year 0001 or later");
  return start;
}

/** When the next one begins; null after the year 9999. */
export function nextStep(moment: Timestamp, by: StatementStep): Timestamp | null {
  return stepAfter(moment, by, 1);
}

function stepAfter(moment: Timestamp, by: StatementStep, steps: number): Timestamp | null {
  const months = monthsOf[by];
  const step = Math.floor((Number(moment.slice(5, 7)) - 1) / months);
  const date = new Date(0);
  // Date.UTC takes years 0 to 99 for the 1900s; setUTCFullYear does not.
  date.setUTCFullYear(Number(moment.slice(0, 4)), (step + steps) * months, 1);
  return timestampFromEpochMs(date.getTime());
}

export const statementKinds = ["balance-sheet", "income-statement"] as const;
export type StatementKind = (typeof statementKinds)[number];

/**
 * What an account moved in a column; before the first column is column 0. Entries of the type CLOSING, and their reversals,
 * are apart.
 */
export interface ColumnSum {
  readonly glAccountCode: string;
  readonly column: number;
  readonly isClosing: boolean;
  readonly amount: bigint;
}

export type StatementGroupType = AccountType | "untyped";

export interface StatementGroup {
  readonly type: StatementGroupType;
  /** By the UTF-8 bytes of the codes; amounts and totals: one for each column. */
  readonly accounts: readonly {
    readonly glAccountCode: string;
    readonly name: string;
    readonly amounts: readonly bigint[];
  }[];
  readonly totals: readonly bigint[];
}

export interface Statement {
  readonly groups: readonly StatementGroup[];
  /** Income and expenses together: a profit is negative. */
  readonly result: readonly bigint[];
  /** Whether assets, liabilities, equity and the result to date sum to zero at the end of each column. */
  readonly balances: boolean;
}

const groupTypes: Readonly<Record<StatementKind, readonly StatementGroupType[]>> = {
  "balance-sheet": ["asset", "liability", "equity", "untyped"],
  "income-statement": ["income", "expense", "untyped"],
};

/**
 * A statement of so many columns. A balance sheet has what each account came to at the end of the column, CLOSING
 * included; an income statement what it moved in the column, without CLOSING. An account is in it that has such an entry, or
 * that has no type and a balance at the end of a column: without it the rest does not balance.
 */
export function makeStatement(
  kind: StatementKind,
  chart: readonly Account[],
  columnCount: number,
  sums: readonly ColumnSum[],
): Statement {
  const accounts = new Map(chart.map((account) => [account.glAccountCode, account]));
  const typeOf = (code: string): StatementGroupType => accounts.get(code)?.type ?? "untyped";
  const isSheet = kind === "balance-sheet";
  const ends = addUp(columnCount, sums, true);
  const shown = isSheet
    ? ends
    : addUp(
        columnCount,
        sums.filter(({ column, isClosing }) => column > 0 && !isClosing),
        false,
      );
  const untyped = [...ends].flatMap(([code, amounts]) =>
    typeOf(code) === "untyped" && amounts.some((amount) => amount !== 0n) ? code : [],
  );
  const codes = [...new Set([...shown.keys(), ...untyped])].sort(compareUtf8);
  const none = Array<bigint>(columnCount).fill(0n);
  const groups = groupTypes[kind].map((type): StatementGroup => {
    const ofType = codes.filter((code) => typeOf(code) === type);
    return {
      type,
      accounts: ofType.map((glAccountCode) => ({
        glAccountCode,
        name: accounts.get(glAccountCode)?.name ?? "",
        amounts: shown.get(glAccountCode) ?? none,
      })),
      totals: totalsOf(columnCount, shown, ofType),
    };
  });
  const ofResult = codes.filter((code) => ["income", "expense"].includes(typeOf(code)));
  const typed = [...ends.keys()].filter((code) => typeOf(code) !== "untyped");
  return {
    groups,
    result: totalsOf(columnCount, shown, ofResult),
    balances: totalsOf(columnCount, ends, typed).every((total) => total === 0n),
  };
}

/** The sums of each account by column: running ones, or each column's own. */
function addUp(
  columnCount: number,
  sums: readonly ColumnSum[],
  isRunning: boolean,
): Map<string, bigint[]> {
  const amounts = new Map<string, bigint[]>();
  for (const { glAccountCode, column, amount } of sums) {
    const row = amounts.get(glAccountCode) ?? Array<bigint>(columnCount + 1).fill(0n);
    amounts.set(glAccountCode, row);
    row[column] = (row[column] ?? 0n) + amount;
  }
  for (const row of amounts.values()) {
    for (let column = 1; isRunning && column <= columnCount; column += 1) {
      row[column] = (row[column] ?? 0n) + (row[column - 1] ?? 0n);
    }
    row.shift();
  }
  return amounts;
}

function totalsOf(
  columnCount: number,
  amounts: ReadonlyMap<string, readonly bigint[]>,
  codes: readonly string[],
): bigint[] {
  return Array.from({ length: columnCount }, (_, column) =>
    codes.reduce((total, code) => total + (amounts.get(code)?.[column] ?? 0n), 0n),
  );
}

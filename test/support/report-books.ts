// Books with everything that reports have to tell apart: four currencies, revaluations, reversals, closing entries, and
// dates that are not in the order of the entries. The same from the same seed.
import type { Account, EntryInput, LedgerClient } from "../../src/client/ledger-client.ts";

export const reportChart: readonly Account[] = (
  [
    ["1000", "Cash", "asset"],
    ["1100", "Receivables", "asset"],
    ["1200", "Stock", "asset"],
    ["2000", "Payables", "liability"],
    ["2100", "Loan", "liability"],
    ["3000", "Retained earnings", "equity"],
    ["4000", "Sales", "income"],
    ["4100", "Interest", "income"],
    ["5000", "Wages", "expense"],
    ["5100", "Rent", "expense"],
  ] as const
).map(([glAccountCode, name, type]) => ({ glAccountCode, name, type, active: true }));

/** Numbers from 0 up to a limit, the same from the same seed: the generator of Park and Miller. */
export function numbersOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

const currencies = ["EUR", "EUR", "USD", "JPY", "KWD"] as const;

/** Posts so many entries, dated in 2025 and the first half of 2026, into a ledger in EUR. */
export async function postReportBooks(
  client: LedgerClient,
  ledgerId: string,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<void> {
  const next = numbersOf(seed);
  const entries = Array.from({ length: count }, (_, index) => entryOf(next, index));
  for (let start = 0; start < count; start += 500) {
    const outcomes = await client.postEntries(ledgerId, entries.slice(start, start + 500));
    const failed = outcomes.find(({ status }) => status !== 201);
    if (failed !== undefined) throw new Error(JSON.stringify(failed));
  }
  const { entries: first } = await client.listEntries(ledgerId, { limit: 100 });
  for (const { journalId, entryType } of first) {
    // An entry in ten is reversed; a closing entry is not, whose reversal would not be one.
    if (entryType !== "CLOSING" && next(10) === 0) await client.reverseEntry(ledgerId, journalId);
  }
}

function entryOf(next: (limit: number) => number, index: number): EntryInput {
  const code = () => reportChart[next(reportChart.length)]?.glAccountCode ?? "";
  const date = new Date(Date.UTC(2025, 0, 1 + next(540))).toISOString();
  const kind = next(20);
  const lines = Array.from({ length: 1 + next(4) }, () => lineOf(next, code(), kind === 0));
  const sum = lines.reduce((total, { functionalAmount }) => total + Number(functionalAmount), 0);
  const rest = { glAccountCode: code(), functionalAmount: String(sum === 0 ? 7 : -sum) };
  const even = sum === 0 ? [{ glAccountCode: code(), functionalAmount: "-7" }] : [];
  return {
    transactionDate: date,
    description: `Entry ${index}`,
    ...(kind === 1 ? { entryType: "CLOSING" as const } : {}),
    lines: [...lines, rest, ...even],
  };
}

function lineOf(
  next: (limit: number) => number,
  glAccountCode: string,
  isRevaluation: boolean,
): EntryInput["lines"][number] {
  const currency = currencies[next(currencies.length)] ?? "EUR";
  const amount = (1 + next(1_000_000)) * (next(2) === 0 ? 1 : -1);
  const line = { glAccountCode, functionalAmount: String(amount) };
  if (currency === "EUR") return line;
  const foreign = isRevaluation ? 0 : Math.sign(amount) * (1 + next(2_000_000));
  return { ...line, transactionCurrency: currency, transactionAmount: String(foreign) };
}

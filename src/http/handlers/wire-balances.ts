// From trial balances as they are summed to what travels.
import {
  isBalanced,
  totalsOf,
  type BalanceRow,
  type BalanceTotals,
  type MovedBalance,
} from "../../core/close.ts";
import type { Account, LedgerIdentity } from "../../core/ledger.ts";
import type { Period } from "../../core/period.ts";
import type { CloseBalance, MovedAccount, TrialBalance } from "../../contract/types.ts";

/** A line of a close's stored trial balance. */
export function wireBalanceRow(row: BalanceRow): CloseBalance {
  return { glAccountCode: row.glAccountCode, ...wireTotals(row), entryCount: row.entryCount };
}

/** A trial balance of the live books: its bounds, its rows with what the chart says of them, its totals. */
export function wireBalances(
  { ledgerId, functionalCurrency }: LedgerIdentity,
  { startsAt, endsAt }: Period,
  rows: readonly BalanceRow[],
  chart: readonly Account[],
): Pick<
  TrialBalance,
  "ledgerId" | "functionalCurrency" | "startsAt" | "endsAt" | "accounts" | "totals" | "balanced"
> {
  const accounts = new Map(chart.map((account) => [account.glAccountCode, account]));
  const totals = totalsOf(rows);
  return {
    ...{ ledgerId, functionalCurrency, startsAt, endsAt },
    accounts: rows.map(({ glAccountCode, ...row }) => {
      const { name = "", type = null } = accounts.get(glAccountCode) ?? {};
      return { glAccountCode, name, type, ...wireTotals(row) };
    }),
    totals: wireTotals(totals),
    balanced: isBalanced(totals),
  };
}

export function wireMovedBalance({ stored, live }: MovedBalance): MovedAccount {
  return {
    glAccountCode: stored.glAccountCode,
    stored: { ...wireTotals(stored), entryCount: stored.entryCount },
    live: { ...wireTotals(live), entryCount: live.entryCount },
  };
}

/** The sums of a trial balance. */
export function wireTotals({ opening, debits, credits, closing }: BalanceTotals) {
  return {
    opening: opening.toString(),
    debits: debits.toString(),
    credits: credits.toString(),
    closing: closing.toString(),
  };
}

// The limits of assets at the end of a history: no row of a wallet's log exceeds those that were in force.
import type { AssetRuleRow, WalletRow, WalletWriteRow } from "../database/tables.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function walletOf(
  { wallets }: FinalBooks,
  ledgerId: string,
  callerKey: string,
): WalletRow | undefined {
  return wallets.find((wallet) => wallet.ledgerId === ledgerId && wallet.callerKey === callerKey);
}

/** What rows of a log take out of their wallet on the UTC day of a moment. */
export function debitedOn(log: readonly WalletWriteRow[], at: string): bigint {
  return log
    .filter((row) => takesOut(row) && row.at.slice(0, 10) === at.slice(0, 10))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

export function checkLimits(violations: Violations, books: FinalBooks, ledgerId: string): void {
  const logs = groupBy(books.writes, ({ walletId }) => walletId);
  for (const wallet of books.wallets.filter((each) => each.ledgerId === ledgerId)) {
    const rules = books.rules.filter(
      (rule) => rule.ledgerId === ledgerId && rule.assetCode === wallet.assetCode,
    );
    const log = logs.get(wallet.walletId) ?? [];
    const versions = log.map((row) => versionOf(row, books));
    for (const [index, row] of log.entries()) {
      // Versions only grow: that of a row that names none is between those of the rows around it.
      const first = Math.max(1, ...versions.slice(0, index + 1).filter((each) => each !== null));
      const last = Math.min(...versions.slice(index).filter((each) => each !== null), Infinity);
      const isAllowed = rules
        .filter(({ version }) => version >= first && version <= last)
        .some((rule) => isWithin(rule, log.slice(0, index + 1)));
      violations.expect(isAllowed, "limit", () => shown({ wallet, row, rules }));
    }
    const { debited } = wallet;
    if (debited === null) continue;
    const isSummed = debited === debitedOn(log, wallet.debitedOn ?? "");
    violations.expect(isSummed, "debits of a day", () => shown({ wallet, log }));
  }
}

/** The version of the rule that a row was accepted under; null where its row does not tell. */
function versionOf({ pendingPostingId }: WalletWriteRow, { batches }: FinalBooks): number | null {
  if (pendingPostingId === null) return null;
  return batches.find((batch) => batch.pendingPostingId === pendingPostingId)?.ruleVersion ?? null;
}

/** Whether the last row of a log keeps the limits of a rule. */
function isWithin({ maxBalance, dailyDebitMax }: AssetRuleRow, log: readonly WalletWriteRow[]) {
  const row = log.at(-1);
  if (row === undefined) return true;
  const isIn = row.type === "credit" || row.type === "transfer-in";
  if (isIn && maxBalance !== null && row.balance > maxBalance) return false;
  return !takesOut(row) || dailyDebitMax === null || debitedOn(log, row.at) <= dailyDebitMax;
}

function takesOut({ type }: WalletWriteRow): boolean {
  return type === "debit" || type === "commit" || type === "transfer-out";
}

// What wallets accepted is posted exactly once: pending postings sum the logs, entries sum pending postings.
import type { JournalEntryRow, WalletBatchRow } from "../database/tables.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function checkPostings(violations: Violations, books: FinalBooks, ledgerId: string): void {
  const batches = books.batches.filter((batch) => batch.ledgerId === ledgerId);
  checkAgainstLogs(violations, books, batches, ledgerId);
  checkAgainstEntries(violations, books, batches, ledgerId);
  checkTotals(violations, books, batches, ledgerId);
}

function checkAgainstLogs(
  violations: Violations,
  { writes }: FinalBooks,
  batches: readonly WalletBatchRow[],
  ledgerId: string,
): void {
  const moves = writes.filter(
    (write) => write.ledgerId === ledgerId && ["credit", "debit", "commit"].includes(write.type),
  );
  const byBatch = groupBy(moves, ({ pendingPostingId }) => pendingPostingId ?? "");
  violations.expect(byBatch.size === batches.length, "pending posting", () => shown(batches));
  for (const batch of batches) {
    const own = byBatch.get(batch.pendingPostingId) ?? [];
    const sum = own.reduce((total, { amount }) => total + amount, 0n);
    const isRight = sum === batch.amount && own.length === batch.writeCount;
    violations.expect(isRight, "pending posting", () => shown({ batch, own }));
  }
}

function checkAgainstEntries(
  violations: Violations,
  { entries, lines, postings, states }: FinalBooks,
  batches: readonly WalletBatchRow[],
  ledgerId: string,
): void {
  const isActive = states.some((row) => row.ledgerId === ledgerId && row.status === "active");
  const byEntry = groupBy(batches, ({ journalId }) => journalId ?? "");
  const waiting = byEntry.get("") ?? [];
  violations.expect(!isActive || waiting.length === 0, "not posted", () => shown(waiting));
  const posted = entries.filter(
    (entry) => entry.ledgerId === ledgerId && entry.originSystem === "ledgerctl",
  );
  const marked = postings.filter((posting) => posting.ledgerId === ledgerId);
  violations.expect(marked.length === posted.length, "posting", () => shown(marked));
  for (const entry of posted) {
    const own = byEntry.get(entry.journalId) ?? [];
    byEntry.delete(entry.journalId);
    const expected = new Set(sidesOf(own));
    const found = new Set(debitsOf(entry, lines));
    const isRight = own.length > 0 && [...expected].sort().join() === [...found].sort().join();
    violations.expect(isRight, "posting", () => shown({ entry, own, found: [...found] }));
  }
  byEntry.delete("");
  violations.expect(byEntry.size === 0, "posting", () => shown([...byEntry.values()]));
}

/** The debit lines that pending postings make: assets of these histories have the rate 1. */
function sidesOf(batches: readonly WalletBatchRow[]): string[] {
  const sides = groupBy(batches, ({ assetCode, side }) => `${assetCode} ${side}`);
  return [...sides.values()].map((own) => {
    const [first] = own;
    const amount = own.reduce((total, batch) => total + batch.amount, 0n);
    const account = first?.side === "credit" ? "wallets-clearing" : "wallets";
    return `${account}:${first?.assetCode ?? ""} ${amount}`;
  });
}

function debitsOf(entry: JournalEntryRow, lines: FinalBooks["lines"]): string[] {
  return lines
    .filter(
      ({ ledgerId, sequence, functionalAmount }) =>
        ledgerId === entry.ledgerId && sequence === entry.sequence && functionalAmount > 0n,
    )
    .map(({ glAccountCode, functionalAmount }) => `${glAccountCode} ${functionalAmount}`);
}

function checkTotals(
  violations: Violations,
  { totals }: FinalBooks,
  batches: readonly WalletBatchRow[],
  ledgerId: string,
): void {
  const posted = groupBy(
    batches.filter(({ journalId }) => journalId !== null),
    ({ assetCode, ruleVersion, side }) => `${assetCode} ${ruleVersion} ${side}`,
  );
  const own = totals.filter((total) => total.ledgerId === ledgerId);
  violations.expect(own.length === posted.size, "posting totals", () => shown(own));
  for (const total of own) {
    const { assetCode, ruleVersion, side } = total;
    const summed = (posted.get(`${assetCode} ${ruleVersion} ${side}`) ?? []).reduce(
      (sum, { amount }) => sum + amount,
      0n,
    );
    const isRight = summed === total.amount && summed === total.functionalAmount;
    violations.expect(isRight, "posting totals", () => shown({ total, summed }));
  }
}

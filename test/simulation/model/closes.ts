// Closes at the end of a history: each covers what was there, nothing got into its period afterwards, and the chain of
// their hashes holds.
import {
  balancesRootOf,
  closeHashOf,
  TrialBalance,
  type CloseRecord,
} from "../../../src/core/close.ts";
import { rootOf } from "../../../src/core/merkle.ts";
import { holds } from "../../../src/core/period.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function checkCloses(violations: Violations, books: FinalBooks, ledgerId: string): void {
  const closes = books.closes.filter((close) => close.ledgerId === ledgerId);
  closes.forEach((close, index) => {
    violations.expect(close.number === index + 1, "close", () => shown(close));
    const previous = closes[index - 1]?.closeHash ?? null;
    violations.expect(close.previousCloseHash === previous, "close chain", () => shown(close));
    const { closeHash, ...unsigned } = close;
    const hash = closeHashOf(unsigned).toString("hex");
    violations.expect(hash === closeHash, "close chain", () => shown(close));
    checkClose(violations, books, close);
  });
}

function checkClose(violations: Violations, books: FinalBooks, close: CloseRecord): void {
  const { ledgerId, lastSequence } = close;
  const lines = groupBy(
    books.lines.filter((line) => line.ledgerId === ledgerId),
    ({ sequence }) => String(sequence),
  );
  const entries = books.entries.filter((entry) => entry.ledgerId === ledgerId);
  const balance = new TrialBalance();
  const leaves: Buffer[] = [];
  for (const entry of entries) {
    const isWithin = holds(close, entry.transactionDate);
    const own = lines.get(String(entry.sequence)) ?? [];
    if (entry.sequence > lastSequence) {
      violations.expect(!isWithin, "closed period", () => shown({ close, entry }));
    } else if (isWithin) {
      leaves.push(Buffer.from(entry.leaf, "hex"));
      balance.addEntry(own);
    } else if (entry.transactionDate < close.endsAt) balance.addOpening(own);
  }
  const rows = balance.rows();
  const tell = () => shown({ close, leaves: leaves.length, rows });
  violations.expect(close.entryCount === leaves.length, "close", tell);
  violations.expect(rootOf(leaves).toString("hex") === close.merkleRoot, "root", tell);
  const balancesRoot = balancesRootOf(rows).toString("hex");
  violations.expect(balancesRoot === close.balancesRoot, "root", tell);
  const stored = books.closeBalances.filter(
    (row) => row.ledgerId === ledgerId && row.number === close.number,
  );
  violations.expect(stored.length === rows.length, "close", tell);
}

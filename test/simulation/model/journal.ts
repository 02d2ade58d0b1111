// A journal at the end of a history: no gaps, sums that agree, leaves that are the hashes of what is there.
import { entryLeaf } from "../../../src/core/canonical.ts";
import type { JournalEntryRow, JournalLineRow } from "../database/tables.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function checkJournal(violations: Violations, books: FinalBooks, ledgerId: string): void {
  const entries = books.entries.filter((entry) => entry.ledgerId === ledgerId);
  const lines = groupBy(
    books.lines.filter((line) => line.ledgerId === ledgerId),
    ({ sequence }) => String(sequence),
  );
  checkSequences(violations, books, entries, ledgerId);
  for (const entry of entries) {
    const own = lines.get(String(entry.sequence)) ?? [];
    own.sort((one, other) => one.lineNumber - other.lineNumber);
    const sum = own.reduce((total, { functionalAmount }) => total + functionalAmount, 0n);
    violations.expect(own.length >= 2 && sum === 0n, "lines", () => shown({ entry, own }));
    const leaf = entryLeaf({ ...entry, postingStatus: "POSTED", lines: own }).toString("hex");
    violations.expect(leaf === entry.leaf, "leaf", () => shown({ entry, own }));
  }
  checkKeys(violations, books, entries, ledgerId);
  checkBalances(violations, books, lines, ledgerId);
}

function checkSequences(
  violations: Violations,
  { heads, closes }: FinalBooks,
  entries: readonly JournalEntryRow[],
  ledgerId: string,
): void {
  entries.forEach((entry, index) => {
    violations.expect(entry.sequence === index + 1, "sequence", () => shown(entry));
    const before = entries[index - 1];
    const isInTime = before === undefined || before.persistedAt <= entry.persistedAt;
    violations.expect(isInTime, "time", () => shown({ before, entry }));
  });
  const head = heads.find((each) => each.ledgerId === ledgerId);
  violations.expect(head?.lastSequence === entries.length, "head", () => shown(head));
  const last = entries.at(-1)?.persistedAt ?? "";
  violations.expect((head?.lastPersistedAt ?? "") >= last, "head", () => shown(head));
  for (const close of closes.filter((each) => each.ledgerId === ledgerId)) {
    const next = entries[close.lastSequence];
    const isLater = next === undefined || next.persistedAt > close.closedAt;
    violations.expect(isLater, "time", () => shown({ close, next }));
  }
}

/** What may be there once is there once, and a reversal is of what it says. */
function checkKeys(
  violations: Violations,
  { reversals }: FinalBooks,
  entries: readonly JournalEntryRow[],
  ledgerId: string,
): void {
  const keys = entries.flatMap(({ externalId }) => externalId ?? []);
  violations.expect(new Set(keys).size === keys.length, "doubled", () => shown(keys));
  const reversed = entries.flatMap(({ reversesJournalId }) => reversesJournalId ?? []);
  violations.expect(new Set(reversed).size === reversed.length, "doubled", () => shown(reversed));
  const rows = reversals.filter((row) => row.ledgerId === ledgerId);
  violations.expect(rows.length === reversed.length, "reversals", () => shown(rows));
  for (const { journalId, reversalJournalId } of rows) {
    const reversal = entries.find((entry) => entry.journalId === reversalJournalId);
    const isRight = reversal?.reversesJournalId === journalId;
    violations.expect(isRight, "reversals", () => shown({ journalId, reversal }));
  }
}

function checkBalances(
  violations: Violations,
  { balances }: FinalBooks,
  lines: ReadonlyMap<string, readonly JournalLineRow[]>,
  ledgerId: string,
): void {
  const sums = new Map<string, { balance: bigint; entries: Set<number> }>();
  const add = (key: string, amount: bigint, sequence: number) => {
    const sum = sums.get(key) ?? { balance: 0n, entries: new Set() };
    sum.balance += amount;
    sum.entries.add(sequence);
    sums.set(key, sum);
  };
  for (const line of [...lines.values()].flat()) {
    add(`${line.glAccountCode} `, line.functionalAmount, line.sequence);
    add(`${line.glAccountCode} ${line.transactionCurrency}`, line.transactionAmount, line.sequence);
  }
  const own = balances.filter((row) => row.ledgerId === ledgerId);
  violations.expect(own.length === sums.size, "balance", () => shown(own));
  for (const row of own) {
    const sum = sums.get(`${row.glAccountCode} ${row.currency}`);
    const isRight = sum?.balance === row.balance && sum.entries.size === row.entryCount;
    violations.expect(isRight, "balance", () => shown(row));
  }
}

// Checks that every entry goes through, in the order of sequences.
import type { Hash } from "../core/merkle.ts";
import { linesMin, type Entry } from "../core/journal.ts";
import type { CloseRecord } from "../core/close.ts";
import { addMs, type Timestamp } from "../core/time.ts";
import {
  type AuditedEntry,
  type AuditedLedger,
  listAccountBalances,
} from "../store/audit/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import type { CheckLog } from "./audit-log.ts";

/** Takes entries one by one; `finish`, where there is one, compares the results. */
export interface EntryCheck {
  /** `contentLeaf` is the hash of the entry's content, computed once for all checks. */
  add(audited: AuditedEntry, contentLeaf: Hash): void;
  finish?(): Promise<void> | void;
}

/** How findings name an entry. */
export function entryName({ journalId, sequence }: Pick<Entry, "journalId" | "sequence">): string {
  return `entry ${journalId} (sequence ${sequence})`;
}

/**
 * Sequences are 1, 2, 3 … up to the head's, and persistedAt never decreases. The head's time is that of the last entry,
 * or the millisecond after the last close.
 */
export function sequenceCheck(
  ledger: AuditedLedger,
  closes: readonly CloseRecord[],
  log: CheckLog,
): EntryCheck {
  let lastSequence = 0;
  let lastPersistedAt: Timestamp | null = null;
  return {
    add({ entry }) {
      const { sequence, persistedAt } = entry;
      log.looked(1);
      const expected = lastSequence + 1;
      if (sequence > expected) {
        const missing = sequence === expected + 1 ? "is" : `to ${sequence - 1} are`;
        log.find(`sequence ${expected}`, `${missing} missing`);
      } else if (sequence < expected) {
        log.find(entryName(entry), "has a sequence below 1");
      }
      if (lastPersistedAt !== null && persistedAt < lastPersistedAt) {
        log.find(entryName(entry), `was persisted at ${persistedAt}, before ${lastPersistedAt}`);
      }
      lastSequence = Math.max(0, sequence);
      lastPersistedAt = persistedAt;
    },
    finish() {
      if (ledger.lastSequence !== lastSequence) {
        const what = `is at sequence ${ledger.lastSequence ?? "none"}, the last entry at ${lastSequence}`;
        log.find("journal head", what);
      }
      const headAt = ledger.lastPersistedAt;
      const lastClose = closes.at(-1);
      const isAfterClose = lastClose !== undefined && headAt === addMs(lastClose.closedAt, 1);
      const isBefore = headAt !== null && lastPersistedAt !== null && headAt < lastPersistedAt;
      if (headAt !== lastPersistedAt && (isBefore || !isAfterClose)) {
        const what = `is at ${headAt ?? "none"}, the last entry at ${lastPersistedAt ?? "none"}`;
        log.find("journal head", what);
      }
      if (ledger.isFinerThanShown) log.find("journal head", "has a time finer than a millisecond");
    },
  };
}

/** Each entry balances, and names accounts and currencies that the ledger has. */
export function lineCheck(
  { functionalCurrency: currency }: AuditedLedger,
  chart: ReadonlySet<string>,
  log: CheckLog,
): EntryCheck {
  return {
    add({ entry, lineNumbers, isFinerThanShown }) {
      log.looked(1);
      const find = (what: string) => {
        log.find(entryName(entry), what);
      };
      const { lines } = entry;
      if (lines.length < linesMin) find(`has ${lines.length} line${lines.length === 1 ? "" : "s"}`);
      if (lineNumbers.some((lineNumber, index) => lineNumber !== index)) {
        find(`has lines with the numbers ${lineNumbers.slice(0, 10).join(", ")}`);
      }
      const sum = lines.reduce((total, line) => total + line.functionalAmount, 0n);
      if (sum !== 0n) find(`its lines sum to ${sum}`);
      for (const { functionalCurrency, glAccountCode } of lines) {
        if (functionalCurrency !== currency) {
          find(`has a line in ${functionalCurrency}, not ${currency}`);
        }
        if (!chart.has(glAccountCode)) {
          find(`has a line on ${JSON.stringify(glAccountCode)}, which is no account`);
        }
      }
      if (isFinerThanShown) find("has a time finer than a millisecond");
    },
  };
}

/** Stored leaves are the hashes of the content. */
export function leafCheck(log: CheckLog): EntryCheck {
  return {
    add({ entry, leaf }, contentLeaf) {
      log.looked(1);
      const content = contentLeaf.toString("hex");
      if (content === leaf) return;
      const what = `has the leaf ${leaf}, its content comes to ${content}`;
      log.find(entryName(entry), what);
    },
  };
}

interface BalanceSum {
  amount: bigint;
  entryCount: number;
  /** Of the entry that was added last, which is counted once for all of its lines. */
  lastSequence: number | null;
}

const newSum = (): BalanceSum => ({ amount: 0n, entryCount: 0, lastSequence: null });

function addTo(sum: BalanceSum, sequence: number, amount: bigint): void {
  sum.amount += amount;
  if (sum.lastSequence !== sequence) sum.entryCount += 1;
  sum.lastSequence = sequence;
}

/** Running balances equal the sums and counts of the lines. Memory: one row a balance. */
export function balanceCheck(
  connection: Connection,
  { ledgerId }: AuditedLedger,
  log: CheckLog,
): EntryCheck {
  // By account, then by currency; '' is the account's whole in functional currency.
  const sums = new Map<string, Map<string, BalanceSum>>();
  const sumOf = (ofAccount: Map<string, BalanceSum>, currency: string) => {
    const found = ofAccount.get(currency);
    if (found !== undefined) return found;
    const sum = newSum();
    ofAccount.set(currency, sum);
    return sum;
  };
  return {
    add({ entry }) {
      const { sequence, lines } = entry;
      for (const line of lines) {
        let ofAccount = sums.get(line.glAccountCode);
        if (ofAccount === undefined) {
          ofAccount = new Map();
          sums.set(line.glAccountCode, ofAccount);
        }
        addTo(sumOf(ofAccount, ""), sequence, line.functionalAmount);
        addTo(sumOf(ofAccount, line.transactionCurrency), sequence, line.transactionAmount);
      }
    },
    async finish() {
      for (const stored of await listAccountBalances(connection, ledgerId)) {
        const { balance, entryCount } = stored;
        log.looked(1);
        const name = balanceName(stored.glAccountCode, stored.currency);
        const found = sums.get(stored.glAccountCode)?.get(stored.currency);
        const sum = found ?? { amount: 0n, entryCount: 0 };
        if (found === undefined) log.find(name, "has a balance and no lines");
        if (balance !== sum.amount) {
          log.find(name, `has the balance ${balance}, its lines sum to ${sum.amount}`);
        }
        if (entryCount !== sum.entryCount) {
          log.find(name, `has the entryCount ${entryCount}, but it comes to ${sum.entryCount}`);
        }
        sums.get(stored.glAccountCode)?.delete(stored.currency);
      }
      for (const [glAccountCode, ofAccount] of sums) {
        for (const currency of ofAccount.keys()) {
          log.find(balanceName(glAccountCode, currency), "has lines and no balance");
        }
      }
    },
  };
}

function balanceName(glAccountCode: string, currency: string): string {
  const account = `account ${JSON.stringify(glAccountCode)}`;
  return currency === "" ? account : `${account} in ${currency}`;
}

// Checks that every entry goes through, in the order of sequences.
import type { Hash } from "../core/merkle.ts";
import { balanceChanges, linesMin, type Entry } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import {
  type AuditedEntry,
  type AuditedLedger,
  listAccountBalances,
} from "../store/audit/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import type { CheckLog } from "./audit-log.ts";

/** An entry with the hash of its content, computed once for all checks. */
export type HashedEntry = AuditedEntry & { readonly contentLeaf: Hash };

/** Takes entries one by one; `finish` compares the results. */
export interface EntryCheck {
  add(audited: HashedEntry): void;
  finish(): Promise<void> | void;
}

/** How findings name an entry. */
export function entryName({ journalId, sequence }: Pick<Entry, "journalId" | "sequence">): string {
  return `entry ${journalId} (sequence ${sequence})`;
}

/** Sequences are 1, 2, 3 … up to the head's, and persistedAt never decreases. */
export class SequenceCheck implements EntryCheck {
  readonly #ledger: AuditedLedger;
  readonly #log: CheckLog;
  #lastSequence = 0;
  #lastPersistedAt: Timestamp | null = null;

  constructor(ledger: AuditedLedger, log: CheckLog) {
    this.#ledger = ledger;
    this.#log = log;
  }

  add({ entry }: AuditedEntry): void {
    const { sequence, persistedAt } = entry;
    this.#log.looked(1);
    const expected = this.#lastSequence + 1;
    if (sequence > expected) {
      const missing = sequence === expected + 1 ? "is" : `to ${sequence - 1} are`;
      this.#log.find(`sequence ${expected}`, `${missing} missing`);
    } else if (sequence < expected) {
      this.#log.find(entryName(entry), "has a sequence below 1");
    }
    if (this.#lastPersistedAt !== null && persistedAt < this.#lastPersistedAt) {
      const before = this.#lastPersistedAt;
      this.#log.find(entryName(entry), `was persisted at ${persistedAt}, before ${before}`);
    }
    this.#lastSequence = Math.max(0, sequence);
    this.#lastPersistedAt = persistedAt;
  }

  finish(): void {
    const { lastSequence, lastPersistedAt } = this.#ledger;
    if (lastSequence !== this.#lastSequence) {
      const what = `is at sequence ${lastSequence ?? "none"}, the last entry at ${this.#lastSequence}`;
      this.#log.find("journal head", what);
    }
    const last = this.#lastPersistedAt;
    if (last !== null && (lastPersistedAt === null || lastPersistedAt < last)) {
      this.#log.find(
        "journal head",
        `is at ${lastPersistedAt ?? "none"}, the last entry at ${last}`,
      );
    }
  }
}

/** Each entry balances, and names accounts and currencies that the ledger has. */
export class LineCheck implements EntryCheck {
  readonly #currency: string;
  readonly #chart: ReadonlySet<string>;
  readonly #log: CheckLog;

  constructor(currency: string, chart: ReadonlySet<string>, log: CheckLog) {
    this.#currency = currency;
    this.#chart = chart;
    this.#log = log;
  }

  add({ entry, lineNumbers, isFinerThanShown }: AuditedEntry): void {
    this.#log.looked(1);
    const find = (what: string) => {
      this.#log.find(entryName(entry), what);
    };
    const { lines } = entry;
    if (lines.length < linesMin) find(`has ${lines.length} lines`);
    if (lineNumbers.some((lineNumber, index) => lineNumber !== index)) {
      find(`has lines with the numbers ${lineNumbers.slice(0, 10).join(", ")}`);
    }
    const sum = lines.reduce((total, line) => total + line.functionalAmount, 0n);
    if (sum !== 0n) find(`its lines sum to ${sum}`);
    for (const { functionalCurrency, glAccountCode } of lines) {
      if (functionalCurrency !== this.#currency) {
        find(`has a line in ${functionalCurrency}, not ${this.#currency}`);
      }
      if (!this.#chart.has(glAccountCode)) {
        find(`has a line on ${JSON.stringify(glAccountCode)}, which is no account`);
      }
    }
    if (isFinerThanShown) find("has a time finer than a millisecond");
  }

  finish(): void {
    // Each entry is judged on its own.
  }
}

/** Stored leaves are the hashes of the content. */
export class LeafCheck implements EntryCheck {
  readonly #log: CheckLog;

  constructor(log: CheckLog) {
    this.#log = log;
  }

  add({ entry, leaf, contentLeaf }: HashedEntry): void {
    this.#log.looked(1);
    if (!contentLeaf.equals(leaf)) {
      const what = `has the leaf ${leaf.toString("hex")}, its content comes to ${contentLeaf.toString("hex")}`;
      this.#log.find(entryName(entry), what);
    }
  }

  finish(): void {
    // Each entry is judged on its own.
  }
}

/** Running balances equal the sums and counts of the lines. Memory: one row a balance. */
export class BalanceCheck implements EntryCheck {
  readonly #connection: Connection;
  readonly #ledgerId: string;
  readonly #log: CheckLog;
  readonly #sums = new Map<string, { amount: bigint; entryCount: number }>();

  constructor(connection: Connection, ledgerId: string, log: CheckLog) {
    this.#connection = connection;
    this.#ledgerId = ledgerId;
    this.#log = log;
  }

  add({ entry }: AuditedEntry): void {
    for (const { glAccountCode, currency, amount, entryCount } of balanceChanges([entry])) {
      const name = balanceName(glAccountCode, currency ?? "");
      const sum = this.#sums.get(name) ?? { amount: 0n, entryCount: 0 };
      this.#sums.set(name, {
        amount: sum.amount + amount,
        entryCount: sum.entryCount + entryCount,
      });
    }
  }

  async finish(): Promise<void> {
    const stored = await listAccountBalances(this.#connection, this.#ledgerId);
    for (const { glAccountCode, currency, balance, entryCount } of stored) {
      this.#log.looked(1);
      const name = balanceName(glAccountCode, currency);
      const sum = this.#sums.get(name) ?? { amount: 0n, entryCount: 0 };
      if (balance !== sum.amount) {
        this.#log.find(name, `has the balance ${balance}, its lines sum to ${sum.amount}`);
      }
      if (entryCount !== sum.entryCount) {
        this.#log.find(name, `counts ${entryCount} entries, there are ${sum.entryCount}`);
      }
      this.#sums.delete(name);
    }
    for (const name of this.#sums.keys()) this.#log.find(name, "has lines and no balance");
  }
}

function balanceName(glAccountCode: string, currency: string): string {
  const account = `account ${JSON.stringify(glAccountCode)}`;
  return currency === "" ? account : `${account} in ${currency}`;
}

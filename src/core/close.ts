// Closes: the record of a closed period, its trial balance, and the hashes that bind both.
import { canonicalJson } from "./canonical.ts";
import type { Line } from "./journal.ts";
import { CompactRange, hashLeaf, rootOf, type Hash } from "./merkle.ts";
import type { Period } from "./period.ts";
import { compareUtf8 } from "./text.ts";
import type { Timestamp } from "./time.ts";
import { createHash } from "node:crypto";

export const merkleAlgorithm = "rfc6962-sha256-jcs-v1";

/** A close, as it is stored for good. Hashes are 64 lower-case hex digits. */
export interface CloseRecord extends Period {
  readonly ledgerId: string;
  readonly closeId: string;
  /** 1, 2, 3 … in the ledger. */
  readonly number: number;
  readonly periodId: string;
  readonly reason: string | null;
  /** Later than all that the close includes. */
  readonly closedAt: Timestamp;
  /** The ledger's last sequence when it was closed: the roots cover nothing beyond. */
  readonly lastSequence: number;
  /** Entries of the period up to that sequence: the leaves under `merkleRoot`. */
  readonly entryCount: number;
  readonly merkleRoot: string;
  readonly merkleAlgorithm: string;
  readonly balancesRoot: string;
  /** null for a ledger's first close. */
  readonly previousCloseHash: string | null;
  readonly closeHash: string;
}

/** A line of a trial balance, in the smallest unit of the functional currency. */
export interface BalanceRow {
  readonly glAccountCode: string;
  /** Everything dated before the period. */
  readonly opening: bigint;
  /** Of the period, at least zero. */
  readonly debits: bigint;
  /** Of the period, at most zero. */
  readonly credits: bigint;
  /** opening + debits + credits */
  readonly closing: bigint;
  /** Entries of the period with a line on the account. */
  readonly entryCount: number;
}

/** The canonical record without its own hash: what is hashed, and a leaf's data in the log of closes. */
export function canonicalClose(record: Omit<CloseRecord, "closeHash">): string {
  const { balancesRoot, closeId, closedAt, endsAt, entryCount, lastSequence, ledgerId } = record;
  const { merkleRoot, number, periodId, previousCloseHash, reason, startsAt } = record;
  return canonicalJson({
    ...{ balancesRoot, closeId, closedAt, endsAt, entryCount, lastSequence, ledgerId },
    merkleAlgorithm: record.merkleAlgorithm,
    ...{ merkleRoot, number, periodId, previousCloseHash, reason, startsAt },
  });
}

/** SHA-256 over the canonical record without its own hash, 32 bytes. */
export function closeHashOf(record: Omit<CloseRecord, "closeHash">): Hash {
  return createHash("sha256").update(canonicalClose(record)).digest();
}

/**
 * The canonical form of a row, whose hash is a leaf in the tree of a closing trial balance. It is written out, in the
 * order of names, which is faster: charts of thousands of accounts are hashed under a ledger's lock.
 */
function canonicalBalance(row: BalanceRow): string {
  return (
    `{"closing":"${row.closing}","credits":"${row.credits}","debits":"${row.debits}",` +
    `"entryCount":${row.entryCount},"glAccountCode":${JSON.stringify(row.glAccountCode)},` +
    `"opening":"${row.opening}"}`
  );
}

/** The root over a trial balance; its rows are ordered by the UTF-8 bytes of their codes. */
export function balancesRootOf(rows: readonly BalanceRow[]): Hash {
  const range = new CompactRange();
  for (const row of rows) range.append(hashLeaf(canonicalBalance(row)));
  return range.root();
}

/** The columns of a trial balance, summed. */
export type BalanceTotals = Pick<BalanceRow, "opening" | "debits" | "credits" | "closing">;

export function totalsOf(rows: readonly BalanceTotals[]): BalanceTotals {
  const totals = { opening: 0n, debits: 0n, credits: 0n, closing: 0n };
  for (const row of rows) {
    totals.opening += row.opening;
    totals.debits += row.debits;
    totals.credits += row.credits;
    totals.closing += row.closing;
  }
  return totals;
}

/** Whether openings and closings sum to zero, and the period's debits equal its credits. */
export function isBalanced({ opening, debits, credits, closing }: BalanceTotals): boolean {
  return opening === 0n && debits + credits === 0n && closing === 0n;
}

/** An account whose figures differ from those that a close stored. */
export interface MovedBalance {
  readonly stored: BalanceRow;
  readonly live: BalanceRow;
}

/** Accounts whose rows differ between a close and the journal, by code; a missing row counts as all zeros. */
export function movedBalances(
  stored: readonly BalanceRow[],
  live: readonly BalanceRow[],
): MovedBalance[] {
  const storedByCode = new Map(stored.map((row) => [row.glAccountCode, row]));
  const liveByCode = new Map(live.map((row) => [row.glAccountCode, row]));
  return [...new Set([...storedByCode.keys(), ...liveByCode.keys()])]
    .sort(compareUtf8)
    .map((code) => ({
      stored: storedByCode.get(code) ?? emptyRow(code),
      live: liveByCode.get(code) ?? emptyRow(code),
    }))
    .filter((moved) => canonicalBalance(moved.stored) !== canonicalBalance(moved.live));
}

function emptyRow(glAccountCode: string): BalanceRow {
  return { glAccountCode, opening: 0n, debits: 0n, credits: 0n, closing: 0n, entryCount: 0 };
}

type RowInProgress = { -readonly [Name in keyof Omit<BalanceRow, "closing">]: BalanceRow[Name] } & {
  /** The number of the entry that was counted last. */
  lastCounted: number;
};

/** Sums entries into a trial balance, in memory for one row an account. */
export class TrialBalance {
  readonly #rows = new Map<string, RowInProgress>();
  #entryCount = 0;

  /** Starts from rows that were summed before. */
  constructor(rows: readonly BalanceRow[] = []) {
    this.addRows(rows);
  }

  /** Adds an entry dated before the period. */
  addOpening(lines: readonly Pick<Line, "glAccountCode" | "functionalAmount">[]): void {
    for (const line of lines) this.#row(line.glAccountCode).opening += line.functionalAmount;
  }

  /** Adds an entry of the period. */
  addEntry(lines: readonly Pick<Line, "glAccountCode" | "functionalAmount">[]): void {
    this.#entryCount += 1;
    for (const { glAccountCode, functionalAmount } of lines) {
      const row = this.#row(glAccountCode);
      if (functionalAmount > 0n) row.debits += functionalAmount;
      else row.credits += functionalAmount;
      // Once for all of its lines on the account.
      if (row.lastCounted === this.#entryCount) continue;
      row.lastCounted = this.#entryCount;
      row.entryCount += 1;
    }
  }

  /** Adds rows of the same period that were summed elsewhere. */
  addRows(rows: readonly BalanceRow[]): void {
    for (const { glAccountCode, opening, debits, credits, entryCount } of rows) {
      const row = this.#row(glAccountCode);
      row.opening += opening;
      row.debits += debits;
      row.credits += credits;
      row.entryCount += entryCount;
    }
  }

  /** The rows, ordered by the UTF-8 bytes of their codes. */
  rows(): BalanceRow[] {
    return [...this.#rows.values()]
      .map(({ glAccountCode, opening, debits, credits, entryCount }) => ({
        ...{ glAccountCode, opening, debits, credits, entryCount },
        closing: opening + debits + credits,
      }))
      .sort((a, b) => compareUtf8(a.glAccountCode, b.glAccountCode));
  }

  #row(glAccountCode: string): RowInProgress {
    let row = this.#rows.get(glAccountCode);
    if (row === undefined) {
      row = {
        ...{ glAccountCode, opening: 0n, debits: 0n, credits: 0n, entryCount: 0 },
        lastCounted: 0,
      };
      this.#rows.set(glAccountCode, row);
    }
    return row;
  }
}

/** Leaves of a close's tree that are hashed into one subtree; audit paths are made from such parts. */
export const leavesPerSubtree = 1_024;

/** The root over some of a close's leaves: `leavesPerSubtree` of them, or what is left for the last. */
export interface Subtree {
  readonly firstSequence: number;
  readonly root: Hash;
}

/** Grows the tree of a close; keeps the roots of its parts, from which audit paths are made. */
export class CloseTree {
  readonly #complete: Subtree[] = [];
  #part = new CompactRange();
  #firstSequence = 0;
  #size = 0;

  /** Appends the leaf of the entry with this sequence. */
  append(sequence: number, leaf: Hash): void {
    if (this.#part.size === 0) this.#firstSequence = sequence;
    this.#part.append(leaf);
    this.#size += 1;
    if (this.#part.size === leavesPerSubtree) this.completePart();
  }

  /** Keeps of the last part no more than its root; for when no leaf comes any more. */
  completePart(): void {
    if (this.#part.size === 0) return;
    // A copy of its own: a hash keeps the 8 KiB that it was made in, and others with it, from being freed.
    const root = Buffer.alloc(32, this.#part.root());
    this.#complete.push({ firstSequence: this.#firstSequence, root });
    this.#part = new CompactRange();
  }

  get size(): number {
    return this.#size;
  }

  subtrees(): Subtree[] {
    if (this.#part.size === 0) return [...this.#complete];
    return [...this.#complete, { firstSequence: this.#firstSequence, root: this.#part.root() }];
  }

  /** All parts but the last are perfect trees of one size, so the root over them is the root over all. */
  root(): Hash {
    return rootOf(this.subtrees().map(({ root }) => root));
  }
}

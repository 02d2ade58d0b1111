// Everything that closes claim, recomputed from the content of entries in one pass over the journal.
import {
  balancesRootOf,
  CloseTree,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
} from "../core/close.ts";
import type { Entry, Line } from "../core/journal.ts";
import type { Hash } from "../core/merkle.ts";
import { compareUtf8 } from "../core/text.ts";
import type { Timestamp } from "../core/time.ts";
import type { AuditedEntry } from "../store/audit/journal.ts";
import { listCloseBalances, listSubtrees } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";
import type { AuditCheckName, AuditLog, CheckLog } from "./audit-log.ts";
import { closeName } from "./close-checks.ts";
import { entryName, type EntryCheck } from "./entry-checks.ts";

/**
 * The closes of a ledger, recomputed. The bounds of all closes cut time into spans; an entry is given to the
 * closes that cover its span and added to the span's sums, from which openings are made once for each close:
 * what an entry costs does not grow with the number of closes.
 */
export class CloseRecomputations implements EntryCheck {
  /** By the sequence up to which they cover the journal. */
  readonly #closes: readonly CloseRecomputation[];
  /** Where spans begin and end, in order; span n begins after n of them. */
  readonly #bounds: readonly Timestamp[];
  readonly #covering: readonly (readonly CloseRecomputation[])[];
  readonly #sums: readonly Sums[];
  /** How many closes end before the sequence that was read last. */
  #passed = 0;
  /** The latest time at which one of so many closes was closed, and the earliest of the others. */
  readonly #latestOf: readonly (Timestamp | null)[];
  readonly #earliestFrom: readonly (Timestamp | null)[];

  constructor(connection: Connection, closes: readonly CloseRecord[], log: AuditLog) {
    this.#closes = [...closes]
      .sort((a, b) => a.lastSequence - b.lastSequence)
      .map((record) => new CloseRecomputation(connection, record, log));
    const bounds = closes.flatMap(({ startsAt, endsAt }) => [
      ...(startsAt === null ? [] : [startsAt]),
      endsAt,
    ]);
    this.#bounds = [...new Set(bounds)].sort();
    const spans = Array.from({ length: this.#bounds.length + 1 }, (_, span) => span);
    this.#sums = spans.map(() => new Sums());
    const covering = spans.map((): CloseRecomputation[] => []);
    for (const close of this.#closes) {
      const { startsAt, endsAt } = close.record;
      const from = startsAt === null ? 0 : this.#spanOf(startsAt);
      for (const each of covering.slice(from, this.#spanOf(endsAt))) each.push(close);
    }
    this.#covering = covering;
    const times = this.#closes.map(({ record }) => record.closedAt);
    this.#latestOf = running(times, (a, b) => (a > b ? a : b));
    this.#earliestFrom = running([...times].reverse(), (a, b) => (a < b ? a : b)).reverse();
  }

  add({ entry }: AuditedEntry, contentLeaf: Hash): void {
    this.#passCloses(entry.sequence);
    this.#checkTimes(entry);
    const span = this.#spanOf(entry.transactionDate);
    for (const close of this.#covering[span] ?? []) close.add(entry, contentLeaf);
    this.#sums[span]?.add(entry.lines, 1);
  }

  async finish(): Promise<void> {
    this.#passCloses(Infinity);
    for (const close of this.#closes) await close.finish(this.#before(close.record.startsAt));
  }

  /** Gives closes that end before a sequence their openings, which are what was read so far. */
  #passCloses(sequence: number): void {
    for (; this.#passed < this.#closes.length; this.#passed += 1) {
      const close = this.#closes[this.#passed];
      if (close === undefined || close.record.lastSequence >= sequence) return;
      close.open(this.#before(close.record.startsAt));
    }
  }

  /** What a close covers was persisted before it, all else after it. Where that fails, the broken one is looked for. */
  #checkTimes(entry: Entry): void {
    const latest = this.#latestOf[this.#passed] ?? null;
    const earliest = this.#earliestFrom[this.#passed] ?? null;
    const isRight =
      (latest === null || entry.persistedAt >= latest) &&
      (earliest === null || entry.persistedAt < earliest);
    if (isRight) return;
    for (const close of this.#closes) close.checkTimes(entry);
  }

  #before(startsAt: Timestamp | null): Sums {
    const sums = new Sums();
    if (startsAt === null) return sums;
    for (const each of this.#sums.slice(0, this.#spanOf(startsAt))) {
      sums.add(linesOf(each), each.entryCount);
    }
    return sums;
  }

  /** The number of bounds up to and including a moment. */
  #spanOf(moment: Timestamp): number {
    let from = 0;
    let to = this.#bounds.length;
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const bound = this.#bounds[middle];
      if (bound !== undefined && bound <= moment) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** What the values before each place of a list, and all of them, join to; null for nothing. */
function running<Value>(
  values: readonly Value[],
  join: (a: Value, b: Value) => Value,
): (Value | null)[] {
  const found: (Value | null)[] = [null];
  for (const value of values) {
    const before = found.at(-1) ?? null;
    found.push(before === null ? value : join(before, value));
  }
  return found;
}

/** Sums of lines by account. */
class Sums {
  /** An account with lines is listed even when they sum to zero. */
  readonly amounts = new Map<string, bigint>();
  entryCount = 0;

  add(lines: Iterable<Pick<Line, "glAccountCode" | "functionalAmount">>, entryCount: number): void {
    for (const { glAccountCode, functionalAmount } of lines) {
      const before = this.amounts.get(glAccountCode) ?? 0n;
      this.amounts.set(glAccountCode, before + functionalAmount);
    }
    this.entryCount += entryCount;
  }
}

function linesOf({ amounts }: Sums): Pick<Line, "glAccountCode" | "functionalAmount">[] {
  return [...amounts].map(([glAccountCode, functionalAmount]) => ({
    glAccountCode,
    functionalAmount,
  }));
}

/** One close recomputed from entries, and compared with what is stored of it. */
class CloseRecomputation {
  readonly record: CloseRecord;
  readonly #connection: Connection;
  readonly #log: AuditLog;
  readonly #tree = new CloseTree();
  readonly #balances = new TrialBalance();
  #openings = new Sums();

  constructor(connection: Connection, record: CloseRecord, log: AuditLog) {
    this.#connection = connection;
    this.record = record;
    this.#log = log;
  }

  /** Takes an entry that is dated in the period. */
  add(entry: Entry, contentLeaf: Hash): void {
    if (entry.sequence > this.record.lastSequence) {
      const what = `is dated ${entry.transactionDate} and came after ${closeName(this.record)}`;
      this.#logOf("closed-periods").find(entryName(entry), what);
      return;
    }
    this.#tree.append(entry.sequence, contentLeaf);
    this.#balances.addEntry(entry.lines);
  }

  /** Takes what had come to the accounts before the period when the close was made. */
  open(openings: Sums): void {
    this.#openings = openings;
    this.#balances.addOpening(linesOf(openings));
    this.#tree.completePart();
  }

  /** Compares; `openings` is what has come to the accounts before the period by now. */
  async finish(openings: Sums): Promise<void> {
    const rows = this.#balances.rows();
    this.#compareRoots(rows);
    await this.#compareBalances(rows);
    await this.#compareSubtrees();
    this.#logOf("closed-periods").looked(1);
    this.#noteMoved(openings);
  }

  /** What a close covers was persisted before it, all else after it. */
  checkTimes(entry: Entry): void {
    const { closedAt, lastSequence } = this.record;
    const isCovered = entry.sequence <= lastSequence;
    if (entry.persistedAt < closedAt === isCovered) return;
    const relation = isCovered ? "is covered by" : "is not covered by";
    const what = `was persisted at ${entry.persistedAt} and ${relation} ${closeName(this.record)} of ${closedAt}`;
    this.#logOf("closed-periods").find(entryName(entry), what);
  }

  #compareRoots(rows: readonly BalanceRow[]): void {
    const log = this.#logOf("close-roots");
    log.looked(1);
    const close = this.record;
    const found = {
      entryCount: this.#tree.size,
      merkleRoot: this.#tree.root().toString("hex"),
      balancesRoot: balancesRootOf(rows).toString("hex"),
    };
    for (const name of ["entryCount", "merkleRoot", "balancesRoot"] as const) {
      if (close[name] !== found[name]) {
        log.find(closeName(close), `${name} is ${close[name]}, but comes to ${found[name]}`);
      }
    }
  }

  async #compareBalances(rows: readonly BalanceRow[]): Promise<void> {
    const log = this.#logOf("close-balances");
    const stored = await listCloseBalances(this.#connection, this.record);
    const expected = new Map(rows.map((row) => [row.glAccountCode, row]));
    const name = (code: string) => `${closeName(this.record)}, account ${JSON.stringify(code)}`;
    for (const row of stored) {
      log.looked(1);
      const found = expected.get(row.glAccountCode);
      expected.delete(row.glAccountCode);
      if (found === undefined) {
        log.find(name(row.glAccountCode), "has a row and no entries");
        continue;
      }
      for (const figure of ["opening", "debits", "credits", "closing", "entryCount"] as const) {
        if (row[figure] !== found[figure]) {
          const what = `${figure} is ${row[figure]}, but comes to ${found[figure]}`;
          log.find(name(row.glAccountCode), what);
        }
      }
    }
    for (const code of expected.keys()) log.find(name(code), "has entries and no row");
  }

  async #compareSubtrees(): Promise<void> {
    const log = this.#logOf("close-subtrees");
    const stored = await listSubtrees(this.#connection, this.record);
    const found = this.#tree.subtrees();
    log.looked(stored.length);
    if (stored.length !== found.length) {
      log.find(closeName(this.record), `has ${stored.length} subtrees, not ${found.length}`);
    }
    stored.forEach(({ part, firstSequence, root }, index) => {
      const own = found[index];
      if (own === undefined) return;
      if (part !== index || firstSequence !== own.firstSequence || !root.equals(own.root)) {
        const what = `subtree ${part} is not the one over its entries from sequence ${own.firstSequence}`;
        log.find(closeName(this.record), what);
      }
    });
  }

  #noteMoved(now: Sums): void {
    const movedEntries = now.entryCount - this.#openings.entryCount;
    if (movedEntries === 0) return;
    const { ledgerId } = this.record;
    const count = `${movedEntries} ${movedEntries === 1 ? "entry" : "entries"}`;
    const what = `${count} dated before the period came after the close`;
    this.#log.note(ledgerId, closeName(this.record), what);
    for (const code of [...now.amounts.keys()].sort(compareUtf8)) {
      const moved = (now.amounts.get(code) ?? 0n) - (this.#openings.amounts.get(code) ?? 0n);
      if (moved === 0n) continue;
      const where = `${closeName(this.record)}, account ${JSON.stringify(code)}`;
      this.#log.note(ledgerId, where, `the opening has moved by ${moved} since the close`);
    }
  }

  #logOf(name: AuditCheckName): CheckLog {
    return this.#log.of(name, this.record.ledgerId);
  }
}

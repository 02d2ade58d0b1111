// Checks of closes: the chain of their records, and everything they claim recomputed from content.
import {
  balancesRootOf,
  closeHashOf,
  CloseTree,
  merkleAlgorithm,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
} from "../../core/close.ts";
import type { Entry } from "../../core/journal.ts";
import { holds } from "../../core/period.ts";
import {
  listFineCloses,
  listStrayCloseParts,
  type AuditedLedger,
} from "../../store/audit-reads.ts";
import { listCloseBalances, listCloses, listSubtrees } from "../../store/close-reads.ts";
import type { ReadConnection } from "../../store/read-pool.ts";
import type { AuditLog, CheckLog } from "./audit-log.ts";
import { entryName, type EntryCheck, type HashedEntry } from "./entry-checks.ts";

const closesPerPage = 1_000;

/** All closes of a ledger, by number. */
export async function readCloses(
  reads: ReadConnection,
  ledgerId: string,
): Promise<readonly CloseRecord[]> {
  const closes: CloseRecord[] = [];
  for (let afterNumber = -(2 ** 31); ;) {
    const page = await listCloses(reads, ledgerId, { afterNumber, limit: closesPerPage });
    closes.push(...page);
    const last = page.at(-1);
    if (last === undefined) return closes;
    afterNumber = last.number;
  }
}

function closeName({ number, periodId }: CloseRecord): string {
  return `close ${number} (${JSON.stringify(periodId)})`;
}

/** Numbers without gaps, each record's own hash, and in each the hash of the one before. */
export async function checkChain(
  reads: ReadConnection,
  ledger: AuditedLedger,
  closes: readonly CloseRecord[],
  log: CheckLog,
): Promise<void> {
  log.looked(closes.length);
  closes.forEach((close, index) => {
    const find = (what: string) => {
      log.find(closeName(close), what);
    };
    const before = closes[index - 1];
    const number = (before?.number ?? 0) + 1;
    if (close.number !== number) find(`comes where close ${number} should be`);
    const previous = before?.closeHash ?? null;
    if (close.previousCloseHash !== previous) {
      find(`previousCloseHash is ${close.previousCloseHash ?? "null"}, not ${previous ?? "null"}`);
    }
    const hash = closeHashOf(close).toString("hex");
    if (close.closeHash !== hash) find(`closeHash is ${close.closeHash}, but comes to ${hash}`);
    if (close.merkleAlgorithm !== merkleAlgorithm) {
      find(`merkleAlgorithm is ${close.merkleAlgorithm}, not ${merkleAlgorithm}`);
    }
    if (
      close.lastSequence < (before?.lastSequence ?? 0) ||
      close.lastSequence > (ledger.lastSequence ?? 0)
    ) {
      find(`lastSequence is ${close.lastSequence}, which the journal did not have at that moment`);
    }
    if (before !== undefined && close.closedAt <= before.closedAt) {
      find(`was closed at ${close.closedAt}, not after ${closeName(before)}`);
    }
  });
  log.findAll(await listFineCloses(reads, ledger.ledgerId));
  log.findAll(await listStrayCloseParts(reads, ledger.ledgerId));
}

/** One close recomputed from entries, and compared with what is stored of it. */
export class CloseRecomputation implements EntryCheck {
  readonly #reads: ReadConnection;
  readonly #close: CloseRecord;
  readonly #log: AuditLog;
  readonly #tree = new CloseTree();
  readonly #balances = new TrialBalance();
  /** What was posted since and is dated before the period. */
  readonly #moved = new TrialBalance();
  #movedEntries = 0;

  constructor(reads: ReadConnection, close: CloseRecord, log: AuditLog) {
    this.#reads = reads;
    this.#close = close;
    this.#log = log;
  }

  add({ entry, contentLeaf }: HashedEntry): void {
    const close = this.#close;
    this.#checkTimes(entry);
    const isCovered = entry.sequence <= close.lastSequence;
    if (holds(close, entry.transactionDate)) {
      if (!isCovered) {
        const what = `is dated ${entry.transactionDate} and came after ${closeName(close)}`;
        this.#logOf("closed-periods").find(entryName(entry), what);
        return;
      }
      this.#tree.append(entry.sequence, contentLeaf);
      this.#balances.addEntry(entry.lines);
    } else if (close.startsAt !== null && entry.transactionDate < close.startsAt) {
      (isCovered ? this.#balances : this.#moved).addOpening(entry.lines);
      if (!isCovered) this.#movedEntries += 1;
    }
  }

  async finish(): Promise<void> {
    const rows = this.#balances.rows();
    this.#compareRoots(rows);
    await this.#compareBalances(rows);
    await this.#compareSubtrees();
    this.#logOf("closed-periods").looked(1);
    this.#noteMoved();
  }

  /** What a close covers was persisted before it, all else after it. */
  #checkTimes(entry: Entry): void {
    const { closedAt, lastSequence } = this.#close;
    const isCovered = entry.sequence <= lastSequence;
    if (entry.persistedAt < closedAt === isCovered) return;
    const relation = isCovered ? "is covered by" : "is not covered by";
    const what = `was persisted at ${entry.persistedAt} and ${relation} ${closeName(this.#close)} of ${closedAt}`;
    this.#logOf("closed-periods").find(entryName(entry), what);
  }

  #compareRoots(rows: readonly BalanceRow[]): void {
    const log = this.#logOf("close-roots");
    log.looked(1);
    const close = this.#close;
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
    const stored = await listCloseBalances(this.#reads, this.#close);
    const expected = new Map(rows.map((row) => [row.glAccountCode, row]));
    const name = (code: string) => `${closeName(this.#close)}, account ${JSON.stringify(code)}`;
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
    const stored = await listSubtrees(this.#reads, this.#close);
    const found = this.#tree.subtrees();
    log.looked(stored.length);
    if (stored.length !== found.length) {
      log.find(closeName(this.#close), `has ${stored.length} subtrees, not ${found.length}`);
    }
    stored.forEach(({ part, firstSequence, root }, index) => {
      const own = found[index];
      if (own === undefined) return;
      if (part !== index || firstSequence !== own.firstSequence || !root.equals(own.root)) {
        const what = `subtree ${part} is not the one over its entries from sequence ${own.firstSequence}`;
        log.find(closeName(this.#close), what);
      }
    });
  }

  #noteMoved(): void {
    if (this.#movedEntries === 0) return;
    const { ledgerId } = this.#close;
    const count = `${this.#movedEntries} ${this.#movedEntries === 1 ? "entry" : "entries"}`;
    const what = `${count} dated before the period came after the close`;
    this.#log.note(ledgerId, closeName(this.#close), what);
    for (const { glAccountCode, opening } of this.#moved.rows()) {
      if (opening === 0n) continue;
      const where = `${closeName(this.#close)}, account ${JSON.stringify(glAccountCode)}`;
      this.#log.note(ledgerId, where, `the opening has moved by ${opening} since the close`);
    }
  }

  #logOf(name: Parameters<AuditLog["of"]>[0]): CheckLog {
    return this.#log.of(name, this.#close.ledgerId);
  }
}

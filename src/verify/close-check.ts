// Checking a close against the content of its entries: nothing that was stored is trusted.
import { canonicalJson } from "../core/canonical.ts";
import {
  balancesRootOf,
  closeHashOf,
  merkleAlgorithm,
  totalsOf,
  TrialBalance,
  type BalanceRow,
  type CloseRecord,
} from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import { CompactRange, hashLeaf } from "../core/merkle.ts";
import { holds } from "../core/period.ts";
import { compareUtf8 } from "../core/text.ts";
import type { Timestamp } from "../core/time.ts";
import type { CheckedEntry } from "./canonical-entry.ts";
import { entryDocument, readDocument, type EntryDocument } from "./documents.ts";
import { findingsMax, gaps, whereOf, type CloseVerdict, type Finding } from "./verdict.ts";

/** Which entries were given: those of the period, or all up to the close's last sequence. */
export type Coverage = "period" | "journal";

/** Takes entries one by one, in memory for one row an account. */
export class CloseCheck {
  readonly #record: CloseRecord;
  readonly #coverage: Coverage;
  readonly #findings: Finding[] = [];
  #findingCount = 0;
  readonly #balances = new TrialBalance();
  readonly #leaves = new CompactRange();
  #lastSequence = 0;
  #functionalCurrency: string | null = null;

  constructor(record: CloseRecord, coverage: Coverage) {
    this.#record = record;
    this.#coverage = coverage;
  }

  /** The root over the entries so far, from their content: 64 hex digits. */
  get merkleRoot(): string {
    return this.#leaves.root().toString("hex");
  }

  /** Notes something that does not match. */
  find(where: string, what: string): void {
    this.#findingCount += 1;
    if (this.#findings.length < findingsMax) this.#findings.push({ where, what });
  }

  /** Takes the next entry, by sequence, and gives it as it was read; null where it is unreadable, of which `place` is told. */
  addEntry(content: JsonObject, place: string): EntryDocument | null {
    const read = readDocument(entryDocument, content);
    if ("fault" in read) {
      this.find(place, `is no entry document: ${read.fault}`);
      return null;
    }
    this.addDocument(read.document, canonicalJson(content));
    return read.document;
  }

  /** Takes the next entry, with its canonical form. */
  addDocument(document: CheckedEntry, canonical: string): void {
    for (const what of this.#entryFaults(document)) this.find(whereOf(document), what);
    this.#lastSequence = document.sequence;
    this.#functionalCurrency ??= document.lines[0]?.functionalCurrency ?? null;
    const lines = document.lines.map(({ glAccountCode, functionalAmount }) => ({
      glAccountCode,
      functionalAmount: BigInt(functionalAmount),
    }));
    if (holds(this.#record, document.transactionDate)) {
      this.#leaves.append(hashLeaf(canonical));
      this.#balances.addEntry(lines);
    } else if (this.#isBefore(document.transactionDate)) {
      this.#balances.addOpening(lines);
    }
  }

  /**
   * Compares what was recomputed with the record and its trial balance. Nothing from elsewhere is compared yet: the verdict
   * is not anchored.
   */
  finish(balances: readonly BalanceRow[]): CloseVerdict {
    const record = this.#record;
    const { merkleRoot } = this;
    const closeHash = closeHashOf(record).toString("hex");
    const found = this.#balances.rows();
    const checked = [
      ...this.#unlessFound("the root over the entries' content", () => {
        this.#compareEntries(merkleRoot);
      }),
      ...this.#unlessFound("the trial balance of the period and its root", () => {
        this.#compareBalances(balances, found);
      }),
      ...(this.#coverage === "period"
        ? []
        : this.#unlessFound("the openings, from all entries before", () => {
            this.#compareOpenings(balances, found);
          })),
      ...this.#unlessFound("the close's own hash", () => {
        this.#compareRecord(closeHash);
      }),
    ];
    const notChecked = [
      ...(this.#coverage === "period" ? [gaps.openings] : []),
      ...(record.previousCloseHash === null ? [] : [gaps.closesBefore]),
    ];
    const { ledgerId, periodId, number, startsAt, endsAt, closedAt } = record;
    return {
      ok: this.#findingCount === 0,
      anchored: false,
      ...{ ledgerId, periodId, number, startsAt, endsAt, closedAt },
      entries: this.#leaves.size,
      debits: String(totalsOf(found).debits),
      functionalCurrency: this.#functionalCurrency,
      ...{ merkleRoot, closeHash, signers: [], checked, notChecked },
      findings: this.#findings,
      findingCount: this.#findingCount,
    };
  }

  /** What was compared, or nothing where that came to findings. */
  #unlessFound(what: string, compare: () => void): string[] {
    const before = this.#findingCount;
    compare();
    return this.#findingCount === before ? [what] : [];
  }

  #isBefore(date: Timestamp): boolean {
    return this.#record.startsAt !== null && date < this.#record.startsAt;
  }

  #entryFaults(document: CheckedEntry): string[] {
    const { ledgerId, sequence, transactionDate, persistedAt, lines } = document;
    const record = this.#record;
    const faults: string[] = [];
    if (ledgerId !== record.ledgerId) faults.push(`is of the ledger ${ledgerId}`);
    if (sequence <= this.#lastSequence) faults.push(`comes after sequence ${this.#lastSequence}`);
    if (this.#coverage === "journal" && sequence > this.#lastSequence + 1) {
      faults.push(`comes right after sequence ${this.#lastSequence}: what is between is missing`);
    }
    if (sequence > record.lastSequence)
      faults.push(`is beyond lastSequence ${record.lastSequence}`);
    if (this.#coverage === "period" && !holds(record, transactionDate)) {
      faults.push(`is dated ${transactionDate}, outside of the period`);
    }
    if (persistedAt >= record.closedAt)
      faults.push(`was persisted at ${persistedAt}, after the close`);
    if (lines.length < 2) faults.push("has fewer than two lines");
    const sum = lines.reduce((total, line) => total + BigInt(line.functionalAmount), 0n);
    if (sum !== 0n) faults.push(`its lines sum to ${sum}`);
    return faults;
  }

  #compare(name: string, claimed: string | number, found: string | number): void {
    if (claimed !== found) this.find("close", `${name} is ${claimed}, but comes to ${found}`);
  }

  #compareEntries(merkleRoot: string): void {
    const record = this.#record;
    this.#compare("merkleAlgorithm", record.merkleAlgorithm, merkleAlgorithm);
    if (this.#coverage === "journal") {
      this.#compare("lastSequence", record.lastSequence, this.#lastSequence);
    }
    this.#compare("entryCount", record.entryCount, this.#leaves.size);
    this.#compare("merkleRoot", record.merkleRoot, merkleRoot);
  }

  #compareRecord(closeHash: string): void {
    const record = this.#record;
    if (record.startsAt !== null && record.startsAt >= record.endsAt) {
      this.find("close", `begins at ${record.startsAt} and ends at ${record.endsAt}`);
    }
    if ((record.previousCloseHash === null) !== (record.number === 1)) {
      this.find("close", `${record.number} has the previousCloseHash ${record.previousCloseHash}`);
    }
    this.#compare("closeHash", record.closeHash, closeHash);
  }

  #compareBalances(balances: readonly BalanceRow[], found: readonly BalanceRow[]): void {
    this.#compareRoot(balances, "its rows come");
    const rows = new Map(found.map((row) => [row.glAccountCode, row]));
    balances.forEach((row, index) => {
      const code = row.glAccountCode;
      for (const what of rowFaults(row, balances[index - 1], rows.get(code))) {
        this.find(`account ${JSON.stringify(code)}`, what);
      }
      rows.delete(code);
    });
    for (const code of rows.keys()) {
      this.find(`account ${JSON.stringify(code)}`, "has entries, but no row in the trial balance");
    }
    const openings = balances.reduce((sum, { opening }) => sum + opening, 0n);
    if (openings !== 0n) this.find("close", `the openings sum to ${openings}`);
  }

  #compareOpenings(balances: readonly BalanceRow[], found: readonly BalanceRow[]): void {
    this.#compareRoot(found, "comes");
    const openings = new Map(found.map(({ glAccountCode, opening }) => [glAccountCode, opening]));
    for (const { glAccountCode, opening } of balances) {
      const sum = openings.get(glAccountCode) ?? 0n;
      if (opening === sum) continue;
      const what = `opening is ${opening}, but comes to ${sum}`;
      this.find(`account ${JSON.stringify(glAccountCode)}`, what);
    }
  }

  #compareRoot(rows: readonly BalanceRow[], relation: string): void {
    const claimed = this.#record.balancesRoot;
    const root = balancesRootOf(rows).toString("hex");
    if (root === claimed) return;
    this.find("close", `balancesRoot is ${claimed}, but ${relation} to ${root}`);
  }
}

function rowFaults(
  row: BalanceRow,
  before: BalanceRow | undefined,
  found: BalanceRow | undefined,
): string[] {
  const faults: string[] = [];
  if (before !== undefined && compareUtf8(before.glAccountCode, row.glAccountCode) >= 0) {
    faults.push(`does not sort after ${JSON.stringify(before.glAccountCode)}`);
  }
  if (row.closing !== row.opening + row.debits + row.credits) {
    faults.push(`closing is ${row.closing}, not the sum of its opening, debits and credits`);
  }
  for (const name of ["debits", "credits", "entryCount"] as const) {
    const sum = found?.[name] ?? 0;
    if (BigInt(row[name]) !== BigInt(sum))
      faults.push(`${name} is ${row[name]}, but comes to ${sum}`);
  }
  return faults;
}

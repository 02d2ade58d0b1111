// Checking a close against the content of its entries: nothing that was stored is trusted.
import { canonicalJson } from "../core/canonical.ts";
import {
  balancesRootOf,
  closeHashOf,
  merkleAlgorithm,
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
import { entryDocument, readDocument } from "./documents.ts";

/** What does not match: where, and how. */
export interface Finding {
  /** `close`, `entry <journalId> (sequence n)`, `account <code>` or `line n` of a file. */
  readonly where: string;
  readonly what: string;
}

/** The verdict on a close or a proof. `ok` only when everything was compared and equal. */
export interface Verdict {
  readonly ok: boolean;
  /** Whether a root or hash from elsewhere was given, and equals the record's. */
  readonly anchored: boolean;
  readonly merkleRoot: string;
  readonly closeHash: string;
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
  /** The first ones. */
  readonly findings: readonly Finding[];
  /** How many there are, those that `findings` leaves out included. */
  readonly findingCount: number;
}

/** The verdict on a close, with what its record says of it; how much is in it comes from the entries. */
export interface CloseVerdict extends Verdict {
  readonly ledgerId: string;
  readonly periodId: string;
  readonly number: number;
  readonly startsAt: Timestamp | null;
  readonly endsAt: Timestamp;
  readonly closedAt: Timestamp;
  readonly entries: number;
}

/** How many findings are kept; all are counted. */
const findingsMax = 20;

/** How findings name an entry. */
export function whereOf({ journalId, sequence }: Pick<CheckedEntry, "journalId" | "sequence">) {
  return `entry ${journalId} (sequence ${sequence})`;
}

/**
 * The verdict on what was recomputed. `expected` is a figure from elsewhere, or null; one that equals nothing is a finding,
 * and covers nothing.
 */
export function verdictOf(
  { merkleRoot, closeHash }: { readonly merkleRoot: string | null; readonly closeHash: string },
  expected: string | null,
  {
    checked,
    notChecked,
    findings,
    findingCount = findings.length,
  }: Pick<Verdict, "checked" | "notChecked" | "findings"> & { readonly findingCount?: number },
): Verdict {
  const isExpected = expected === null || expected === merkleRoot || expected === closeHash;
  const all = isExpected ? findings : [...findings, unexpected(expected)];
  const count = findingCount + all.length - findings.length;
  const ok = all.length === 0;
  return {
    ok,
    anchored: ok && expected !== null,
    merkleRoot: merkleRoot ?? "",
    closeHash,
    checked,
    notChecked: [
      ...notChecked,
      ...(expected === null ? ["a figure from elsewhere: nothing was expected"] : []),
      ...(expected !== null && expected === merkleRoot && expected !== closeHash
        ? [
            "periodId, number, closedAt, bounds, balances and reason: a merkleRoot does not cover them",
          ]
        : []),
    ],
    findings: all.slice(0, findingsMax),
    findingCount: count,
  };
}

function unexpected(expected: string): Finding {
  const what = `${expected} was expected; neither the merkleRoot nor the closeHash is it`;
  return { where: "close", what };
}

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

  /** Takes the next entry, by sequence; `place` names it should it be unreadable. */
  addEntry(content: JsonObject, place: string): void {
    const read = readDocument(entryDocument, content);
    if ("fault" in read) this.find(place, `is no entry document: ${read.fault}`);
    else this.addDocument(read.document, canonicalJson(content));
  }

  /** Takes the next entry, with its canonical form. */
  addDocument(document: CheckedEntry, canonical: string): void {
    for (const what of this.#entryFaults(document)) this.find(whereOf(document), what);
    this.#lastSequence = document.sequence;
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

  /** Compares what was recomputed with the record, its trial balance and, if there is one, an anchor. */
  finish(balances: readonly BalanceRow[], expected: string | null): CloseVerdict {
    const record = this.#record;
    const closeHash = closeHashOf(record).toString("hex");
    this.#compareRecord(closeHash);
    this.#compareBalances(balances);
    const verdict = verdictOf({ merkleRoot: this.merkleRoot, closeHash }, expected, {
      checked: [
        "the root over the entries' content",
        "the trial balance of the period and its root",
        ...(this.#coverage === "journal" ? ["the openings, from all entries before"] : []),
        "the close's own hash",
        ...(expected === null ? [] : ["the figure that was expected"]),
      ],
      notChecked: [
        ...(this.#coverage === "period"
          ? ["the openings: entries before the period are not here"]
          : []),
        ...(record.previousCloseHash === null ? [] : ["the closes before this one"]),
      ],
      findings: this.#findings,
      findingCount: this.#findingCount,
    });
    const { ledgerId, periodId, number, startsAt, endsAt, closedAt } = record;
    const entries = this.#leaves.size;
    return { ...verdict, ledgerId, periodId, number, startsAt, endsAt, closedAt, entries };
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

  #compareRecord(closeHash: string): void {
    const record = this.#record;
    const compare = (name: string, claimed: string | number, found: string | number) => {
      if (claimed !== found) this.find("close", `${name} is ${claimed}, but comes to ${found}`);
    };
    if (record.startsAt !== null && record.startsAt >= record.endsAt) {
      this.find("close", `begins at ${record.startsAt} and ends at ${record.endsAt}`);
    }
    compare("merkleAlgorithm", record.merkleAlgorithm, merkleAlgorithm);
    if (this.#coverage === "journal")
      compare("lastSequence", record.lastSequence, this.#lastSequence);
    compare("entryCount", record.entryCount, this.#leaves.size);
    compare("merkleRoot", record.merkleRoot, this.merkleRoot);
    compare("closeHash", record.closeHash, closeHash);
  }

  #compareBalances(balances: readonly BalanceRow[]): void {
    const found = this.#balances.rows();
    const compareRoot = (rows: readonly BalanceRow[], relation: string) => {
      const claimed = this.#record.balancesRoot;
      const root = balancesRootOf(rows).toString("hex");
      if (root !== claimed)
        this.find("close", `balancesRoot is ${claimed}, but ${relation} to ${root}`);
    };
    if (this.#coverage === "journal") compareRoot(found, "comes");
    compareRoot(balances, "its rows come");
    const rows = new Map(found.map((row) => [row.glAccountCode, row]));
    balances.forEach((row, index) => {
      const code = row.glAccountCode;
      for (const what of this.#rowFaults(row, balances[index - 1], rows.get(code))) {
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

  #rowFaults(
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
    if (this.#coverage === "journal" && row.opening !== (found?.opening ?? 0n)) {
      faults.push(`opening is ${row.opening}, but comes to ${found?.opening ?? 0n}`);
    }
    return faults;
  }
}

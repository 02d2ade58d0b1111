// The findings of an audit: the first of each check are kept, all are counted.

/** What does not match: in which ledger, where, and how. */
export interface AuditFinding {
  /** Null where it is about no ledger alone. */
  readonly ledgerId: string | null;
  /** `entry <id> (sequence n)`, `account <code>`, `close n`, `wallet <key>` and the like. */
  readonly where: string;
  readonly what: string;
}

/** One check over all ledgers that were audited. */
export interface AuditCheck {
  readonly name: AuditCheckName;
  /** Nothing was found. */
  readonly ok: boolean;
  /** How many of what the check looks at: entries, balances, closes, wallets … */
  readonly checked: number;
  /** The first of them. */
  readonly findings: readonly AuditFinding[];
  /** All of them. */
  readonly findingCount: number;
}

export interface AuditReport {
  readonly checks: readonly AuditCheck[];
  /** Worth knowing and no failure, such as openings that have moved since a close. */
  readonly notes: readonly AuditFinding[];
  readonly noteCount: number;
  readonly ok: boolean;
}

/** The checks in the order in which they are reported. */
export const auditCheckNames = [
  "administration",
  "ledgers",
  "sequences",
  "lines",
  "leaves",
  "balances",
  "day-sums",
  "reversals",
  "close-chain",
  "close-roots",
  "close-balances",
  "close-subtrees",
  "closed-periods",
  "logs",
  "wallets",
  "wallet-logs",
  "wallet-batches",
  "wallet-postings",
  "reconciliation",
] as const;

export type AuditCheckName = (typeof auditCheckNames)[number];

/** How many findings of a check are kept; all are counted. */
const keptMax = 20;

/** Gathers findings of one check, or notes. */
class Findings {
  checked = 0;
  count = 0;
  readonly kept: AuditFinding[] = [];

  add(finding: AuditFinding): void {
    this.count += 1;
    if (this.kept.length < keptMax) this.kept.push(finding);
  }
}

/** Gathers what the checks of an audit find. */
export class AuditLog {
  readonly #checks = new Map(auditCheckNames.map((name) => [name, new Findings()]));
  readonly #notes = new Findings();

  /** What a check says about one ledger, or about none alone (null). */
  of(name: AuditCheckName, ledgerId: string | null): CheckLog {
    const findings = this.#checks.get(name);
    if (findings === undefined) throw new Error("every check has its place");
    return {
      looked: (count) => {
        findings.checked += count;
      },
      find: (where, what) => {
        findings.add({ ledgerId, where, what });
      },
      findAll: (rows) => {
        for (const { where, what } of rows) findings.add({ ledgerId, where, what });
        // The database gave the first of them, and how many there are.
        findings.count += Math.max(0, (rows[0]?.total ?? 0) - rows.length);
      },
    };
  }

  note(ledgerId: string | null, where: string, what: string): void {
    this.#notes.add({ ledgerId, where, what });
  }

  report(): AuditReport {
    const checks = [...this.#checks].map(([name, { checked, kept, count }]) => ({
      ...{ name, ok: count === 0, checked },
      ...{ findings: kept, findingCount: count },
    }));
    const { kept: notes, count: noteCount } = this.#notes;
    return { checks, notes, noteCount, ok: checks.every(({ ok }) => ok) };
  }
}

export interface CheckLog {
  /** Counts what was looked at. */
  looked(count: number): void;
  find(where: string, what: string): void;
  findAll(rows: readonly { where: string; what: string; total: number }[]): void;
}

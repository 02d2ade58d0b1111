// What checks come to: verdicts on closes and proofs, and figures from elsewhere that these are compared with.
import type { Timestamp } from "../core/time.ts";
import type { CheckedEntry } from "./canonical-entry.ts";
import type { Signer } from "./checkpoint.ts";

/** What does not match: where, and how. */
export interface Finding {
  /** `close`, `entry <journalId> (sequence n)`, `account <code>`, `line n` of a file, or `proof <file>`. */
  readonly where: string;
  readonly what: string;
}

/** The verdict on a close or a proof. `ok` only when everything was compared and equal. */
export interface Verdict {
  readonly ok: boolean;
  /** Whether a root, hash or signed log from elsewhere was given, and vouches for the record. */
  readonly anchored: boolean;
  readonly merkleRoot: string;
  readonly closeHash: string;
  /** What was compared, and equal. */
  readonly checked: readonly string[];
  /** What could not be compared with what is at hand. */
  readonly notChecked: readonly string[];
  /** The first ones. */
  readonly findings: readonly Finding[];
  /** How many there are, those that `findings` leaves out included. */
  readonly findingCount: number;
}

/** What was verified, as the record says it; how much is in it comes from the content of the entries. */
export interface Subject {
  readonly ledgerId: string;
  readonly periodId: string;
  readonly number: number;
  readonly startsAt: Timestamp | null;
  readonly endsAt: Timestamp;
  readonly closedAt: Timestamp;
  /** How many were given: of a proof, the one. */
  readonly entries: number;
  /** The sum of their debits, in smallest units of the functional currency. */
  readonly debits: string;
  /** That of the first entry; null where there is none. */
  readonly functionalCurrency: string | null;
  /** Who signed the log that has the close, and which witnesses cosigned it when, in Unix seconds. */
  readonly signers: readonly Signer[];
}

/** The verdict on a close. */
export interface CloseVerdict extends Verdict, Subject {}

/** The verdict on a proof, which is of one entry. */
export interface ProofVerdict extends Verdict, Subject {
  readonly journalId: string;
  readonly sequence: number;
  readonly transactionDate: Timestamp;
}

/** What a bundle by itself can't show. */
export const gaps = {
  openings: "the openings: entries before the period are not here",
  closesBefore: "the closes before this one",
} as const;

/** How many findings are kept; all are counted. */
export const findingsMax = 20;

/** How findings name an entry. */
export function whereOf({ journalId, sequence }: Pick<CheckedEntry, "journalId" | "sequence">) {
  return `entry ${journalId} (sequence ${sequence})`;
}

/** The same verdict with further findings. */
export function withFindings<Given extends Verdict>(
  verdict: Given,
  findings: readonly Finding[],
): Given {
  if (findings.length === 0) return verdict;
  return {
    ...verdict,
    ok: false,
    anchored: false,
    findings: [...verdict.findings, ...findings].slice(0, findingsMax),
    findingCount: verdict.findingCount + findings.length,
  };
}

/** The same verdict with something that vouches for the close; one that has findings is not anchored by it. */
export function anchoredBy<Given extends Verdict>(
  verdict: Given,
  what: string,
  notCovered: readonly string[] = [],
): Given {
  return {
    ...verdict,
    anchored: verdict.ok,
    checked: [...verdict.checked, what],
    notChecked: [...verdict.notChecked, ...notCovered],
  };
}

/** Whether a figure from elsewhere is the merkleRoot or the closeHash that was recomputed. */
export function isFigureOf({ merkleRoot, closeHash }: Verdict, figure: string): boolean {
  return figure === merkleRoot || figure === closeHash;
}

/** A figure that was expected, and is of nothing that was recomputed. */
export function unexpectedFigure(figure: string): Finding {
  const what = `${figure} was expected; neither the merkleRoot nor the closeHash is it`;
  return { where: "close", what };
}

/** The same verdict, its merkleRoot or closeHash compared with a figure from elsewhere: 64 lower-case hex digits. */
export function comparedWith<Given extends Verdict>(verdict: Given, figure: string): Given {
  if (!isFigureOf(verdict, figure)) return withFindings(verdict, [unexpectedFigure(figure)]);
  return anchoredBy(
    verdict,
    "the figure that was expected",
    figure === verdict.closeHash
      ? []
      : [
          "periodId, number, closedAt, bounds, balances and reason: a merkleRoot does not cover them",
        ],
  );
}

/** The same verdict where nothing from elsewhere was given. */
export function notAnchored<Given extends Verdict>(verdict: Given): Given {
  const notChecked = [...verdict.notChecked, "a figure from elsewhere: nothing was expected"];
  return { ...verdict, notChecked };
}

/** The same verdict, compared with a figure from elsewhere, or null. */
export function expecting<Given extends Verdict>(verdict: Given, expected: string | null): Given {
  return expected === null ? notAnchored(verdict) : comparedWith(verdict, expected);
}

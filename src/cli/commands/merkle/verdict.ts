// What a check came to, told: the word "verified" stands only behind a comparison that was equal.
import type { CloseVerdict, Verdict } from "../../../verify/close-check.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { Output } from "../../terminal/output.ts";

/** A hash of 64 hex digits in lower case; null where none was given. */
export function readHash(flag: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!/^[0-9a-fA-F]{64}$/.test(value)) {
    throw usageFailure(`${flag} must be a hash: 64 hexadecimal digits`);
  }
  return value.toLowerCase();
}

/** Prints a verdict and gives its exit code. */
export function tellVerdict(
  verdict: Verdict | CloseVerdict,
  expected: string | null,
  output: Output,
): ExitCode {
  output.result(verdict, () => describe(verdict, expected));
  return verdict.ok ? exitCodes.done : exitCodes.verificationFailed;
}

function describe(verdict: Verdict | CloseVerdict, expected: string | null): string {
  const { findings, findingCount } = verdict;
  const untold = findingCount - findings.length;
  const lines = [
    ...("ledgerId" in verdict ? subjectLines(verdict) : []),
    `merkleRoot   ${verdict.merkleRoot}`,
    `closeHash    ${verdict.closeHash}`,
    ...verdict.checked.map((what) => `compared     ${what}`),
    ...verdict.notChecked.map((what) => `not compared ${what}`),
    ...findings.map(({ where, what }) => `MISMATCH     ${where} ${what}`),
    ...(untold === 0
      ? []
      : [`MISMATCH     and ${untold} more: these are the first ${findings.length}`]),
    "",
  ];
  if (!verdict.ok) lines.push("FAILED: what is above does not match.");
  else if (verdict.anchored) {
    const name = expected === verdict.closeHash ? "closeHash" : "merkleRoot";
    lines.push(`verified: everything matches, and ${name} is the one expected.`);
  } else {
    lines.push(
      "consistent, NOT anchored: compare the figures above with those that were published.",
    );
  }
  return lines.join("\n");
}

/** What was checked, as its record says. */
function subjectLines(verdict: CloseVerdict): string[] {
  const { ledgerId, periodId, number, startsAt, endsAt, closedAt, entries } = verdict;
  return [
    `ledger       ${ledgerId}`,
    `period       ${JSON.stringify(periodId)}, from ${startsAt ?? "the beginning"} up to ${endsAt}`,
    `close        ${number}, closed at ${closedAt}`,
    `entries      ${entries}`,
  ];
}

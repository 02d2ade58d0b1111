// What a check came to, told: the word "verified" stands only behind a comparison that was equal.
import { timestampFromEpochMs } from "../../../core/time.ts";
import type { Signer } from "../../../verify/checkpoint.ts";
import type { CloseVerdict, Finding, ProofVerdict } from "../../../verify/verdict.ts";
import { exponentShownOffline, unitLinesOffline } from "../../connection/exponents.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Output } from "../../terminal/output.ts";

/** What a verdict was compared with. */
export interface TrustedFigures {
  /** Each a merkleRoot or a closeHash. */
  readonly figures: readonly string[];
}

/** A hash of 64 hex digits, in lower case. */
export function readHash(flag: string, value: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) {
    throw usageFailure(`${flag} must be a hash: 64 hexadecimal digits`);
  }
  return value.toLowerCase();
}

/** Prints a verdict and gives its exit code. */
export function tellVerdict(
  verdict: CloseVerdict | ProofVerdict,
  trusted: TrustedFigures,
  output: Output,
): ExitCode {
  if (output.isJson) output.result(verdict, () => "");
  else {
    output.line(`${output.judged(output.folded(describe(verdict, output)))}\n`);
    const reasons = reasonsOf(verdict, trusted);
    if (!verdict.ok) output.verdict(false, "FAILED", ": what is above does not match.");
    else if (verdict.anchored) {
      output.verdict(true, "verified", `: everything matches, and ${reasons.join(", and ")}.`);
    } else tellUnanchored(output);
  }
  return verdict.ok ? exitCodes.done : exitCodes.verificationFailed;
}

/** Says what is left to do of what matches itself; `names` tells which of it, if not all. */
export function tellUnanchored(output: Output, names = ""): void {
  const advice = "compare the figures above with those that were published.";
  output.line(output.folded(`consistent, NOT anchored${names}: ${advice}`, 0));
}

/** Why somebody may believe the record. */
function reasonsOf(
  { closeHash, merkleRoot, signers }: CloseVerdict,
  { figures }: TrustedFigures,
): string[] {
  const [log] = signers;
  return [
    ...(figures.includes(closeHash) ? ["closeHash is the one expected"] : []),
    ...(figures.includes(merkleRoot) ? ["merkleRoot is the one expected"] : []),
    ...(log === undefined ? [] : [`the close is in the signed log ${log.name}`]),
  ];
}

function describe(verdict: CloseVerdict | ProofVerdict, output: Output): string {
  const { findings, findingCount } = verdict;
  return [
    ...subjectLines(verdict, output),
    ...unitLinesOffline(namedCurrencies([verdict]), output),
    `merkleRoot   ${verdict.merkleRoot}`,
    `closeHash    ${verdict.closeHash}`,
    ...verdict.signers.map(signerLine),
    ...verdict.checked.map((what) => `compared     ${what}`),
    ...verdict.notChecked.map((what) => `not compared ${what}`),
    ...findingLines(findings, findingCount),
  ].join("\n");
}

/** `signed by    NAME`, or who cosigned when. */
export function signerLine({ name, time }: Signer): string {
  if (time === null) return `signed by    ${name}`;
  return `cosigned by  ${name} at ${timestampFromEpochMs(time * 1_000) ?? `Unix second ${time}`}`;
}

/** A line each, and one that says how many more there are. */
export function findingLines(findings: readonly Finding[], count: number): string[] {
  const more = count - findings.length;
  return [
    ...findings.map(({ where, what }) => `MISMATCH     ${where} ${what}`),
    ...(more === 0
      ? []
      : [`MISMATCH     and ${more} more: these are the first ${findings.length}`]),
  ];
}

/** What was checked, as its record says. */
export function subjectLines(verdict: CloseVerdict | ProofVerdict, output: Output): string[] {
  const { ledgerId, periodId, number, startsAt, endsAt, closedAt } = verdict;
  return [
    `ledger       ${ledgerId}`,
    `period       ${JSON.stringify(periodId)}, from ${startsAt ?? "the beginning"} up to ${endsAt}`,
    `close        ${number}, closed at ${closedAt}`,
    "journalId" in verdict
      ? `entry        ${verdict.journalId}, sequence ${verdict.sequence}, dated ${verdict.transactionDate}`
      : `entries      ${verdict.entries}`,
    `debits       ${output.grouped(describeDebits(verdict, output))}`,
  ];
}

type Debits = Pick<CloseVerdict, "debits" | "functionalCurrency">;

/** In major units, where there is an entry that says the currency. Nobody is asked for the rules of assets. */
export function describeDebits({ debits, functionalCurrency }: Debits, output: Output): string {
  const exponent = exponentShownOffline(functionalCurrency, output);
  return displayAmount(debits, functionalCurrency, exponent);
}

/** Without entries there is nothing to name a currency, and debits are 0 in any. */
export function namedCurrencies(verdicts: readonly Debits[]): string[] {
  return verdicts.flatMap(({ functionalCurrency }) => functionalCurrency ?? []);
}

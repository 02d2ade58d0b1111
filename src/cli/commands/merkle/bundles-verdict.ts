// What verifying several bundles came to: a row for each, and what was compared of which.
import type { CloseVerdict, Finding } from "../../../verify/verdict.ts";
import { unitLinesOffline } from "../../connection/exponents.ts";
import { counted } from "../../terminal/counted.ts";
import type { Column, Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import {
  describeDebits,
  findingLines,
  namedCurrencies,
  signerLine,
  tellUnanchored,
} from "./verdict.ts";
import { shortDate } from "../../terminal/short-date.ts";

export interface BundleVerdict extends CloseVerdict {
  readonly file: string;
}

/** Prints the verdicts, and findings that are of none of the bundles. Whether all is well. */
export function tellBundles(
  bundles: readonly BundleVerdict[],
  findings: readonly Finding[],
  output: Output,
): boolean {
  const ok = findings.length === 0 && bundles.every((bundle) => bundle.ok);
  const anchored = ok && bundles.every((bundle) => bundle.anchored);
  if (output.isJson) {
    output.result({ ok, anchored, bundles, findings }, () => "");
    return ok;
  }
  if (bundles.length > 0) output.line(output.table(bundles, columnsOf(bundles, output)));
  const lines = describe(bundles, findings, output).join("\n");
  output.line(`${output.judged(output.folded(lines))}\n`);
  if (!ok) output.verdict(false, "FAILED", ": what is above does not match.");
  else if (anchored) {
    const what = `${counted(bundles.length, "bundle")}, everything matches, and every close is vouched for`;
    output.verdict(true, "verified", `: ${what}.`);
  } else {
    const loose = bundles.filter((bundle) => !bundle.anchored);
    tellUnanchored(output, ` (${namesOf(loose, bundles)})`);
  }
  return ok;
}

function columnsOf(bundles: readonly BundleVerdict[], output: Output): Column<BundleVerdict>[] {
  const text = (title: string, value: (bundle: BundleVerdict) => string) => ({ title, value });
  const number = (title: string, value: (bundle: BundleVerdict) => string) => ({
    title,
    align: "right" as const,
    value,
  });
  return [
    ...(isOneLedger(bundles) ? [] : [text("LEDGER", ({ ledgerId }) => ledgerId)]),
    number("NO", (bundle) => String(bundle.number)),
    { ...text("PERIOD", ({ periodId }) => periodId), cutTo: 8 },
    {
      ...text("FROM", ({ startsAt }) => startsAt ?? "the beginning"),
      shortValue: ({ startsAt }) => shortDate(startsAt ?? "the beginning"),
      leaveOut: 2,
    },
    {
      ...text("TO", ({ endsAt }) => endsAt),
      shortValue: ({ endsAt }) => shortDate(endsAt),
      leaveOut: 2,
    },
    { ...number("ENTRIES", ({ entries }) => String(entries)), leaveOut: 3 },
    { ...number("DEBITS", (bundle) => describeDebits(bundle, output)), isAmount: true },
    {
      ...text("VERDICT", ({ ok, anchored }) =>
        ok ? (anchored ? "verified" : "NOT anchored") : "FAILED",
      ),
      style: ({ ok, anchored }) => (ok ? (anchored ? "good" : null) : "bad"),
    },
    { ...text("CLOSE HASH", ({ closeHash }) => closeHash), leaveOut: 1 },
    { ...text("FILE", ({ file }) => file), cutTo: 12, isCutInMiddle: true, leaveOut: 4 },
  ];
}

function describe(
  bundles: readonly BundleVerdict[],
  findings: readonly Finding[],
  output: Output,
): string[] {
  return [
    ...(isOneLedger(bundles) ? bundles.slice(0, 1) : []).map(
      ({ ledgerId }) => `ledger       ${ledgerId}`,
    ),
    ...unitLinesOffline(namedCurrencies(bundles), output),
    ...bundles.flatMap(({ signers }) => signers.map(signerLine)),
    ...perBundle("compared     ", bundles, ({ checked }) => checked),
    ...perBundle("not compared ", bundles, ({ notChecked }) => notChecked),
    ...bundles.flatMap(({ file, findings: own, findingCount }) =>
      findingLines(
        own.map(({ where, what }) => ({ where: `${printable(file)}: ${where}`, what })),
        findingCount,
      ),
    ),
    ...findingLines(findings, findings.length),
  ];
}

/** Each thing once, and of which closes it is said where that is not all. */
function perBundle(
  label: string,
  bundles: readonly BundleVerdict[],
  saidOf: (bundle: BundleVerdict) => readonly string[],
): string[] {
  const things = [...new Set(bundles.flatMap(saidOf))];
  return things.map((thing) => {
    const those = bundles.filter((bundle) => saidOf(bundle).includes(thing));
    const which = those.length === bundles.length ? "" : ` (${namesOf(those, bundles)})`;
    return `${label}${thing}${which}`;
  });
}

/** `closes 1 to 3 and 7`; of several ledgers, the files. */
function namesOf(those: readonly BundleVerdict[], all: readonly BundleVerdict[]): string {
  if (!isOneLedger(all)) return those.map(({ file }) => printable(file)).join(", ");
  const runs: { first: number; last: number }[] = [];
  for (const { number } of those) {
    const run = runs.at(-1);
    if (run !== undefined && number <= run.last + 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  const texts = runs.map(({ first, last }) =>
    first === last ? `${first}` : `${first} to ${last}`,
  );
  return `${those.length === 1 ? "close" : "closes"} ${texts.join(", ")}`;
}

function isOneLedger(bundles: readonly BundleVerdict[]): boolean {
  return new Set(bundles.map(({ ledgerId }) => ledgerId)).size === 1;
}

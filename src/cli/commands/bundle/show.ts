// `bundle show`: what is in a bundle, as tables.
import type { Environment } from "../../../config.ts";
import type { CheckedBundle } from "../../../verify/close-chain.ts";
import { wireBalanceRow } from "../../../http/handlers/wire-balances.ts";
import type { EntryDocument } from "../../../verify/documents.ts";
import { exponentShownOffline, unitLinesOffline } from "../../connection/exponents.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { closedTable } from "../../terminal/balance-tables.ts";
import { counted } from "../../terminal/counted.ts";
import { Output, type Column } from "../../terminal/output.ts";
import { checkBundleFile } from "../merkle/check-close.ts";
import { findingLines, subjectLines } from "../merkle/verdict.ts";

export interface ShowFlags extends OutputFlags {
  limit?: string;
}

const entriesShown = 100;

/** Resolves with 3 where the bundle does not match itself. */
export async function showBundle(
  file: string,
  flags: ShowFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const limit =
    flags.limit === undefined ? entriesShown : requireWholeNumber("--limit", flags.limit, 0);
  const entries: EntryDocument[] = [];
  const bundle = await checkBundleFile(file, {
    entry: (entry) => {
      if (entries.length < limit) entries.push(entry);
    },
  });
  const { record, balances, verdict } = bundle;
  const { ok, functionalCurrency, findings } = verdict;
  if (output.isJson) {
    const accounts = balances.map(wireBalanceRow);
    output.result({ ok, close: record, functionalCurrency, accounts, entries, findings }, () => "");
  } else {
    output.line(output.judged(describe(output, bundle, entries)));
    tellEnd(output, bundle);
  }
  return ok ? exitCodes.done : exitCodes.verificationFailed;
}

function describe(
  output: Output,
  { record, balances, verdict }: CheckedBundle,
  entries: readonly EntryDocument[],
): string {
  const currency = verdict.functionalCurrency;
  const exponent = exponentShownOffline(currency, output);
  const left = verdict.entries - entries.length;
  const told = [
    ...subjectLines(verdict, output),
    ...unitLinesOffline([currency, ...entries.flatMap(codesOf)], output),
    ...(record.reason === null ? [] : [`reason       ${JSON.stringify(record.reason)}`]),
    `merkleRoot   ${verdict.merkleRoot}`,
    `closeHash    ${verdict.closeHash}`,
  ];
  return [
    output.folded(told.join("\n")),
    ...(balances.length === 0 ? [] : [closedTable(output, balances, currency, exponent)]),
    ...(entries.length === 0 ? [] : [linesTable(output, entries.flatMap(rowsOf))]),
    ...(left > 0 ? [`and ${counted(left, "more entry", "more entries")}: see --limit`] : []),
    ...(verdict.ok
      ? []
      : [output.folded(findingLines(verdict.findings, verdict.findingCount).join("\n"))]),
  ].join("\n\n");
}

function tellEnd(output: Output, { verdict }: CheckedBundle): void {
  if (!verdict.ok) output.verdict(false, "\nFAILED", ": the file does not match itself.");
  else {
    const advice = "`ledgerctl merkle verify` compares it with what was published.";
    output.line(output.folded(`\nconsistent, NOT anchored: ${advice}`, 0));
  }
}

/** A line of an entry; what is said of the entry stands with its first. */
interface LineRow {
  readonly entry: EntryDocument | null;
  readonly line: EntryDocument["lines"][number];
}

function rowsOf(entry: EntryDocument): LineRow[] {
  return entry.lines.map((line, index) => ({ entry: index === 0 ? entry : null, line }));
}

/** The codes of an entry's amounts. */
function codesOf({ lines }: EntryDocument): string[] {
  return lines.flatMap((line) => [line.functionalCurrency, line.transactionCurrency]);
}

function linesTable(output: Output, rows: readonly LineRow[]): string {
  const isForeign = rows.some(({ line }) => isOfOtherCurrency(line));
  return output.table(
    rows,
    lineColumns(output).filter(({ title }) => isForeign || title !== "FOREIGN"),
  );
}

const lineColumns = (output: Output): readonly Column<LineRow>[] => [
  { title: "SEQ", align: "right", value: ({ entry }) => String(entry?.sequence ?? "") },
  { title: "DATE", value: ({ entry }) => entry?.transactionDate.slice(0, 10) ?? "" },
  {
    title: "ACCOUNT",
    cutTo: 12,
    isCutInMiddle: true,
    value: ({ line }) => line.glAccountCode,
  },
  {
    title: "AMOUNT",
    align: "right",
    isAmount: true,
    value: ({ line }) => shown(output, line.functionalAmount, line.functionalCurrency),
  },
  {
    title: "FOREIGN",
    align: "right",
    leaveOut: 2,
    isAmount: true,
    value: ({ line }) =>
      isOfOtherCurrency(line)
        ? shown(output, line.transactionAmount, line.transactionCurrency)
        : "",
  },
  { title: "ID", leaveOut: 1, value: ({ entry }) => entry?.journalId ?? "" },
  {
    title: "DESCRIPTION",
    cutTo: 12,
    leaveOut: 3,
    value: ({ entry, line }) => line.description ?? entry?.description ?? "",
  },
];

function shown(output: Output, amount: string, currency: string): string {
  return displayAmount(amount, currency, exponentShownOffline(currency, output));
}

function isOfOtherCurrency({ transactionCurrency, functionalCurrency }: LineRow["line"]): boolean {
  return transactionCurrency !== functionalCurrency;
}

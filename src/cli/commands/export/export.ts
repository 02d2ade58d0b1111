// `export`: entries from the service, in the format that was asked for, to a file or to stdout.
import type { Environment } from "../../../config.ts";
import {
  ServiceProblem,
  type EntryListQuery,
  type EntryPage,
  type LedgerClient,
  type Ledger,
} from "../../../client/ledger-client.ts";
import { labelExamples } from "../../../core/period.ts";
import { requireMoment, requireOneOf, requirePeriodLabel } from "../../input/arguments.ts";
import { notFoundFailure, usageFailure } from "../../failure.ts";
import { refuseJqOfFile } from "../../input/jq-of-file.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { printTexts } from "../../terminal/output.ts";
import { describeProgress, waitingFor, withProgress } from "../../terminal/progress-line.ts";
import { Exponents } from "../../connection/exponents.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { entryPages } from "./entry-pages.ts";
import { exportFormats, type ExportWriter } from "./export-format.ts";
import { writerOf } from "./writers.ts";

export interface ExportFlags extends ServiceFlags {
  format: string;
  period?: string;
  from?: string;
  to?: string;
  out?: string;
}

export async function exportBooks(flags: ExportFlags, environment: Environment): Promise<void> {
  const format = requireOneOf("--format", flags.format, exportFormats);
  const filter = readFilter(flags);
  const file = flags.out === undefined || flags.out === "-" ? null : flags.out;
  refuseJqOfFile(flags, file === null);
  const run = async ({ client, ledgerId, output }: ServiceContext) => {
    const ledger = await client.getLedger(ledgerId());
    let entries = 0;
    let total: number | null = null;
    const exponents = new Exponents(client, ledger.id);
    const writer = writerOf(format, exponents.of);
    const texts = textsOf({ client, ledger, filter, writer, exponents }, (page) => {
      entries += page.entries.length;
      total = page.total;
    });
    const waiting = waitingFor("the service is at work");
    const describe = (elapsedMs: number) =>
      total === null
        ? waiting(elapsedMs)
        : describeProgress({ handled: entries, elapsedMs, share: entries / total });
    const isProgressShown = !output.isQuiet && (file !== null || !process.stdout.isTTY);
    exitOnInterrupt();
    try {
      await withProgress(isProgressShown, describe, () =>
        file === null ? printTexts(texts) : writeOutputFile(file, texts),
      );
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.code !== "CLOSE_NOT_FOUND") throw error;
      const label = JSON.stringify(flags.period);
      throw notFoundFailure(
        `${label} is not closed in this ledger; periods of the calendar are written as ${labelExamples}`,
      );
    }
    if (file === null) return;
    if (output.isJson) output.result({ format, entries, file }, () => "");
    else output.note(`${file} is written, entries: ${entries}`);
  };
  await withService(flags, environment, run, { showsProgress: true });
}

function readFilter({ period, from, to }: ExportFlags): EntryListQuery {
  if (period !== undefined && (from !== undefined || to !== undefined)) {
    throw usageFailure("--period has bounds of its own; leave out --from and --to");
  }
  return {
    ...(period === undefined ? {} : { periodId: requirePeriodLabel("--period", period) }),
    ...(from === undefined ? {} : { from: requireMoment("--from", from) }),
    ...(to === undefined ? {} : { to: requireMoment("--to", to) }),
  };
}

interface ExportTask {
  readonly client: LedgerClient;
  readonly ledger: Ledger;
  readonly filter: EntryListQuery;
  readonly writer: ExportWriter;
  /** What the writer gets exponents from. */
  readonly exponents: Exponents;
}

/** The whole of the file, a page of entries at a time. */
async function* textsOf(
  { client, ledger, filter, writer, exponents }: ExportTask,
  onPage: (page: EntryPage) => void,
): AsyncGenerator<string> {
  await exponents.learn([ledger.functionalCurrency]);
  const known = new Set<string>();
  const newAccounts = async () => {
    const accounts = await client.listAccounts(ledger.id);
    const added = accounts.filter(({ glAccountCode }) => !known.has(glAccountCode));
    for (const { glAccountCode } of added) known.add(glAccountCode);
    return added.map((account) => writer.account?.(account) ?? "").join("");
  };
  // Kept back until there are entries to go with it: nothing is written of what is refused.
  let head = (writer.head?.(ledger, describeContents(filter)) ?? "") + (await newAccounts());
  for await (const page of entryPages(client, ledger.id, filter)) {
    const { entries } = page;
    const codes = entries.flatMap(({ lines }) => lines.map(({ glAccountCode }) => glAccountCode));
    // An account may be made while entries are read, by the first write of a wallet's asset.
    await exponents.learn(
      entries.flatMap(({ lines }) => lines.map(({ transactionCurrency }) => transactionCurrency)),
    );
    const declared = codes.every((code) => known.has(code)) ? "" : await newAccounts();
    yield head + declared + entries.map((entry) => writer.entry(entry)).join("");
    head = "";
    onPage(page);
  }
  if (head !== "") yield head;
}

function describeContents({ periodId, from, to }: EntryListQuery): string {
  if (periodId !== undefined) return `entries of the period ${JSON.stringify(periodId)}`;
  const bounds = [
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`up to ${to}`]),
  ];
  return bounds.length === 0 ? "all entries" : `entries dated ${bounds.join(" ")}`;
}

// `bench entries` and `bench wallets`: prepares, loads, verifies, tells.
import { randomBytes } from "node:crypto";
import type { Environment } from "../../../config.ts";
import { LedgerClient, type Ledger } from "../../../client/ledger-client.ts";
import { requireCredentials, resolveConnection, type Connection } from "../../connection/target.ts";
import { counted } from "../../terminal/counted.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { exitOnInterrupt } from "../../interruption.ts";
import { Output } from "../../terminal/output.ts";
import { ProgressLine } from "../../terminal/progress-line.ts";
import { printable } from "../../terminal/printable.ts";
import { prepareEntries } from "./entries-workload.ts";
import { Load } from "./load.ts";
import { OutcomeLog } from "./outcome-log.ts";
import { describeReport, reportOf, type BenchReport } from "./report.ts";
import { readSettings, type BenchFlags, type BenchKind, type BenchSettings } from "./settings.ts";
import { SignedRequests } from "./signed-requests.ts";
import { prepareWallets } from "./wallets-workload.ts";

/** What a service may be thought to do when nobody says: how many requests to sign beforehand. */
const perSecondGuess = 10_000;
const firstErrorLengthMax = 400;

interface Bench {
  readonly kind: BenchKind;
  readonly settings: BenchSettings;
  readonly connection: Connection;
  readonly client: LedgerClient;
  readonly ledger: Ledger;
  readonly output: Output;
}

export async function runBench(
  kind: BenchKind,
  flags: BenchFlags,
  environment: Environment,
): Promise<number> {
  const settings = readSettings(flags);
  const output = new Output(flags, environment.isColorRefused);
  const connection = requireCredentials(await resolveConnection(flags, environment, output));
  if (!/^https?:\/\//.test(connection.url) || !URL.canParse(connection.url)) {
    throw usageFailure(`--url must be an http:// or https:// URL, not ${connection.url}`);
  }
  const client = new LedgerClient({ ...connection, retryForMs: 5_000 });
  try {
    const ledger = await requireOpenLedger(client, connection.ledger);
    const report = await measure({ kind, settings, connection, client, ledger, output });
    output.result(report, describeReport);
    return exitCodeOf(report);
  } finally {
    await client.close();
  }
}

async function requireOpenLedger(client: LedgerClient, ledgerId: string | null): Promise<Ledger> {
  if (ledgerId === null) throw usageFailure("name the ledger with --ledger or LEDGERCTL_LEDGER");
  const ledger = await client.getLedger(ledgerId);
  if (ledger.status === "active") return ledger;
  throw new CommandFailure(`ledger ${ledgerId} is ${ledger.status}`, exitCodes.conflict);
}

async function measure(bench: Bench): Promise<BenchReport> {
  const { kind, settings, connection, client, ledger, output } = bench;
  const run = randomBytes(6).toString("hex");
  const progress = new ProgressLine(!output.isQuiet);
  exitOnInterrupt(() => {
    progress.end();
  });
  output.note(`writing to ledger ${ledger.id} for real, as bench-${run}-…`);
  try {
    progress.tell(() => "preparing");
    const workload =
      kind === "entries"
        ? await prepareEntries(client, ledger.id, run, settings)
        : await prepareWallets(client, ledger, run, settings);
    const expected = ((settings.rate ?? perSecondGuess) * settings.durationMs) / 1000;
    const requests = new SignedRequests(connection, workload.request, Math.ceil(expected));
    const outcomes = new OutcomeLog();
    const load = new Load(settings, new URL(connection.url), { requests, outcomes });
    progress.tell(() => describeLoad(load, outcomes, settings));
    await load.run();
    if (load.firstError !== null) {
      output.note(`the first error: ${printable(load.firstError).slice(0, firstErrorLengthMax)}`);
    }
    const verdict = await workload.verify(outcomes, (describe) => {
      progress.tell(describe);
    });
    const facts = { bench: kind, ledgerId: ledger.id, run, described: workload.described };
    return reportOf(facts, settings, { load, outcomes, verdict });
  } finally {
    progress.end();
  }
}

function describeLoad(load: Load, outcomes: OutcomeLog, settings: BenchSettings): string {
  const seconds = Math.floor(load.elapsedMs / 1000);
  return [
    `${seconds} s of ${settings.durationMs / 1000} s`,
    counted(outcomes.acknowledged, "request"),
    `${Math.round(load.perSecond)}/s`,
    counted(load.errorCount, "error"),
  ].join(", ");
}

function exitCodeOf(report: BenchReport): number {
  if (!report.verification.ok) return exitCodes.verificationFailed;
  // Nothing was lost where nothing was taken; that is no success.
  return report.acknowledged === 0 ? exitCodes.failed : exitCodes.done;
}

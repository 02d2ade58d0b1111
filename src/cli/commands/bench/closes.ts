// `bench closes`: fills the journal, closes everything up to now while others write, and checks the bundle.
import type { Environment } from "../../../config.ts";
import type { Close } from "../../../client/ledger-client.ts";
import { checkBundle, type BundleLine } from "../../../verify/bundle.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import { counted } from "../../terminal/counted.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { bundleLines } from "../merkle/check-close.ts";
import { eachConcurrently } from "./concurrently.ts";
import { chooseAccounts, linesOf, type Accounts } from "./entries.ts";
import { Findings } from "./findings.ts";
import { readServerPid, type WatchFlags } from "./load-flags.ts";
import { withBench, type Bench } from "./open-bench.ts";
import { describePercentiles, percentilesOf, type Percentiles } from "./percentiles.ts";
import { describeLine, describeMemory, describeVerification, withOk } from "./report.ts";
import { watchServerMemory, type ServerMemory } from "./server-memory.ts";
import { externalIdOf } from "./workload.ts";

export interface ClosesFlags extends WatchFlags {
  entries: string;
  otherLedger?: string;
}

const entriesPerBulk = 1_000;
const bulksAtOnce = 4;

export async function benchCloses(flags: ClosesFlags, environment: Environment): Promise<ExitCode> {
  const count = requireWholeNumber("--entries", flags.entries, 1, 10_000_000);
  const serverPid = readServerPid(flags);
  return withBench(flags, environment, async (bench) => {
    const memory = watchServerMemory(serverPid);
    const measured = await measure(bench, count, flags.otherLedger);
    const serverMemoryMib = memory();
    const report = { ...measured, ...(serverMemoryMib && { serverMemoryMib }) };
    bench.output.result(report, (made) => bench.output.judged(describe(made)));
    return report.verification.ok ? exitCodes.done : exitCodes.verificationFailed;
  });
}

async function measure(bench: Bench, count: number, otherLedger: string | undefined) {
  const { client, ledger, run, progress } = bench;
  const accounts = await chooseAccounts(client, ledger.id);
  const otherAccounts =
    otherLedger === undefined ? null : await chooseAccounts(client, otherLedger);
  await fillJournal(bench, count, accounts);
  progress.tell(() => "closing");
  const wallet = { ledgerId: ledger.id, callerKey: `bench-${run}` };
  const credit = { amount: "1", assetCode: ledger.functionalCurrency };
  const startedMs = performance.now();
  let closeSeconds = 0;
  let isClosed = false;
  const isOver = () => isClosed;
  const closing = client.closePeriod(ledger.id, { periodId: `bench-${run}` }).finally(() => {
    closeSeconds = (performance.now() - startedMs) / 1000;
    isClosed = true;
  });
  const [close, walletWritesMs, otherLedgerEntriesMs] = await Promise.all([
    closing,
    writeUntil(isOver, () => client.creditWallet(wallet, credit)),
    otherLedger !== undefined && otherAccounts !== null
      ? writeUntil(isOver, (number) =>
          client.postEntry(otherLedger, { lines: linesOf(number, otherAccounts) }),
        )
      : null,
  ]);
  progress.tell(() => "checking the bundle");
  return {
    bench: "closes",
    ledgerId: ledger.id,
    run,
    entries: close.entryCount,
    closeSeconds,
    // Latencies of writes, one after the other, while the period was being closed.
    walletWritesMs,
    ...(otherLedgerEntriesMs && { otherLedgerEntriesMs }),
    ...(await checkClose(bench, close, count)),
  };
}

/** Posts so many entries of two lines. */
async function fillJournal(
  { client, ledger, run, progress }: Bench,
  count: number,
  accounts: Accounts,
): Promise<void> {
  let posted = 0;
  progress.tell(() => `posted ${posted} of ${count} entries`);
  await eachConcurrently(Math.ceil(count / entriesPerBulk), bulksAtOnce, async (bulk) => {
    const first = bulk * entriesPerBulk + 1;
    const length = Math.min(entriesPerBulk, count - first + 1);
    const entries = Array.from({ length }, (_, index) => ({
      externalId: externalIdOf(run, first + index),
      lines: linesOf(first + index, accounts),
    }));
    await client.postAtomicEntries(ledger.id, entries);
    posted += length;
  });
}

/** Writes one after the other until `isOver`; resolves with the latencies. */
async function writeUntil(
  isOver: () => boolean,
  write: (number: number) => Promise<unknown>,
): Promise<Percentiles> {
  const latenciesMs: number[] = [];
  for (let number = 1; !isOver(); number += 1) {
    const startedMs = performance.now();
    await write(number);
    latenciesMs.push(performance.now() - startedMs);
  }
  return percentilesOf(latenciesMs);
}

/** Every entry that was posted has to be in the bundle, and the bundle has to give the close. */
async function checkClose(
  { client, ledger, run }: Bench,
  { closeId, closeHash }: Close,
  count: number,
) {
  let found = 0;
  const startedMs = performance.now();
  const chunks = (await client.streamBundle(ledger.id, closeId)) as AsyncIterable<Buffer>;
  function* counting(lines: Iterable<BundleLine>) {
    for (const line of lines) {
      if (line.text.includes(`"externalId":"bench-${run}-`)) found += 1;
      yield line;
    }
  }
  async function* groups() {
    for await (const lines of bundleLines(chunks)) yield counting(lines);
  }
  const bundle = await checkBundle(groups(), closeHash);
  const bundleSeconds = (performance.now() - startedMs) / 1000;
  const lost = found === count ? [] : [`${count} were posted, ${found} are there`];
  const different = bundle.findings.map(({ where, what }) => `${where}: ${what}`);
  const checks = [
    new Findings(lost).check("every acknowledged entry is in the close", count),
    new Findings(different).check("the bundle gives the close", 1),
  ];
  return { bundleSeconds, verification: withOk({ checks, notChecked: [] }) };
}

function describe(
  report: Awaited<ReturnType<typeof measure>> & { readonly serverMemoryMib?: ServerMemory },
): string {
  const { otherLedgerEntriesMs, serverMemoryMib } = report;
  const lines = {
    closed: `${counted(report.entries, "entry", "entries")} in ${report.closeSeconds.toFixed(1)} s`,
    wallet: `${describePercentiles(report.walletWritesMs)} a write meanwhile`,
    ...(otherLedgerEntriesMs && {
      "other ledger": `${describePercentiles(otherLedgerEntriesMs)} an entry meanwhile`,
    }),
    bundle: `read and checked in ${report.bundleSeconds.toFixed(1)} s`,
    ...(serverMemoryMib && { memory: describeMemory(serverMemoryMib) }),
  };
  return [...Object.entries(lines).map(describeLine), ...describeVerification(report)].join("\n");
}

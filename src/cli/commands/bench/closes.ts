// `bench closes`: fills the journal, closes everything up to now while others write, and checks the bundle.
import type { Environment } from "../../../config.ts";
import type { Close } from "../../../client/ledger-client.ts";
import { checkBundle } from "../../../verify/bundle.ts";
import { exitCodes } from "../../failure.ts";
import { readLines } from "../../input/entry-files/byte-lines.ts";
import { requireWholeNumber } from "../../input/whole-number.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { eachConcurrently } from "./concurrently.ts";
import { chooseAccounts, linesOf, type Accounts } from "./entries-workload.ts";
import { Findings } from "./findings.ts";
import { withBench, type Bench } from "./open-bench.ts";
import { describePercentiles, percentilesOf, type Percentiles } from "./percentiles.ts";
import { describeLine, describeMemory, describeVerification, type BenchReport } from "./report.ts";
import { watchServerMemory, type ServerMemory } from "./server-memory.ts";
import { externalIdOf } from "./workload.ts";

export interface ClosesFlags extends ServiceFlags {
  entries: string;
  otherLedger?: string;
  serverPid?: string;
}

interface ClosesReport extends Pick<BenchReport, "ledgerId" | "run" | "verification"> {
  readonly bench: "closes";
  readonly entries: number;
  readonly closeSeconds: number;
  /** Latencies of writes, one after the other, while the period was being closed. */
  readonly walletWritesMs: Percentiles;
  readonly otherLedgerEntriesMs?: Percentiles;
  /** To read the bundle and check it. */
  readonly bundleSeconds: number;
  readonly serverMemoryMib?: ServerMemory;
}

const entriesPerBulk = 1_000;
const bulksAtOnce = 4;
const lineBytesMax = 16 * 1024 * 1024;

export async function runCloses(flags: ClosesFlags, environment: Environment): Promise<number> {
  const count = requireWholeNumber("--entries", flags.entries, 1, 10_000_000);
  const pid = flags.serverPid && requireWholeNumber("--server-pid", flags.serverPid, 1);
  return withBench(flags, environment, async (bench) => {
    const memory = pid ? watchServerMemory(pid) : null;
    const report = await measure(bench, count, flags.otherLedger);
    const whole = { ...report, ...(memory && { serverMemoryMib: memory() }) };
    bench.output.result(whole, describe);
    return report.verification.ok ? exitCodes.done : exitCodes.verificationFailed;
  });
}

async function measure(
  bench: Bench,
  count: number,
  otherLedger: string | undefined,
): Promise<ClosesReport> {
  const { client, ledger, run, progress } = bench;
  const accounts = await chooseAccounts(client, ledger.id);
  const otherAccounts =
    otherLedger === undefined ? null : await chooseAccounts(client, otherLedger);
  await fillJournal(bench, count, accounts);
  progress.tell(() => "closing");
  const wallet = { ledgerId: ledger.id, callerKey: `bench-${run}` };
  const credit = { amount: "1", assetCode: ledger.functionalCurrency };
  let isClosed = false;
  const isOver = () => isClosed;
  const startedMs = performance.now();
  const closing = client.closePeriod(ledger.id, { periodId: `bench-${run}` }).finally(() => {
    isClosed = true;
  });
  const timed = closing.then((close) => ({ ...close, ms: performance.now() - startedMs }));
  const [close, walletWritesMs, otherLedgerEntriesMs] = await Promise.all([
    timed,
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
    closeSeconds: close.ms / 1000,
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
): Promise<Pick<ClosesReport, "bundleSeconds" | "verification">> {
  let found = 0;
  const startedMs = performance.now();
  const chunks = (await client.streamBundle(ledger.id, closeId)) as AsyncIterable<Buffer>;
  async function* lines() {
    for await (const { bytes } of readLines(chunks, lineBytesMax)) {
      const line = bytes?.toString() ?? "";
      if (line.includes(`"externalId":"bench-${run}-`)) found += 1;
      yield line;
    }
  }
  const bundle = await checkBundle(lines(), closeHash);
  const bundleSeconds = (performance.now() - startedMs) / 1000;
  const lost = new Findings();
  if (found !== count) lost.add(`${count} were posted, ${found} are there`);
  const different = new Findings();
  for (const { where, what } of bundle.findings) different.add(`${where}: ${what}`);
  const checks = [
    lost.check("every acknowledged entry is in the close", count),
    different.check("the bundle gives the close", 1),
  ];
  return {
    bundleSeconds,
    verification: { ok: checks.every(({ ok }) => ok), checks, notChecked: [] },
  };
}

function describe(report: ClosesReport): string {
  const { otherLedgerEntriesMs, serverMemoryMib } = report;
  const lines = {
    closed: `${report.entries} entries in ${report.closeSeconds.toFixed(1)} s`,
    wallet: `${describePercentiles(report.walletWritesMs)} a write meanwhile`,
    ...(otherLedgerEntriesMs && {
      "other ledger": `${describePercentiles(otherLedgerEntriesMs)} an entry meanwhile`,
    }),
    bundle: `read and checked in ${report.bundleSeconds.toFixed(1)} s`,
    ...(serverMemoryMib && { memory: describeMemory(serverMemoryMib) }),
  };
  return [...Object.entries(lines).map(describeLine), ...describeVerification(report)].join("\n");
}

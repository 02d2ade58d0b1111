// `ledgerctl bench`: load from real signed requests. What it does is in the files beside this one.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const notes = `
Without --rate every connection sends its next request when the last one was answered: the most that the
service does. With --rate requests are due at fixed times whether the service keeps up or not, and latency
counts from when a request was due, so that a stall is seen in all that had to wait for it.
`;
const verified = `
Afterwards all that was acknowledged is looked for through the API. What is missing, doubled or different
is named, and the exit code is 3. What was written stays in the ledger: use one made for it.

`;
const serverPid = "the server's process on this machine, whose memory is watched (Linux)";
const rate = "requests a second (default: as many as the service takes)";
const connections = "connections, each with one request under way";

const walletsExamples = `Examples:
  $ ledgerctl bench wallets
  $ ledgerctl bench wallets --rate 5000 --duration 2m --json`;
const transfersExamples = `Examples:
  $ ledgerctl bench transfers
  $ ledgerctl bench transfers --wallets 10 --duration 2m --json
  $ ledgerctl bench transfers --bulk 500 --atomic --connections 2`;
const entriesExamples = `Examples:
  $ ledgerctl bench entries
  $ ledgerctl bench entries --accounts 1000,4000 --connections 16
  $ ledgerctl bench entries --bulk 500 --connections 2`;
const streamsExamples = `Examples:
  $ ledgerctl bench streams
  $ ledgerctl bench streams --read-url http://127.0.0.1:8421`;
const overloadExamples = `Examples:
  $ ledgerctl bench overload --connections 2000
  $ ledgerctl bench overload --factor 4 --json`;
const closesExample = `Example:
  $ ledgerctl bench closes --entries 100000`;

export function defineBench(program: Command): void {
  const bench = program
    .command("bench")
    .description("measure a service, and verify that it lost and doubled nothing");
  loadOptions(bench.command("wallets"), "30s")
    .description("credits and debits of wallets of this run's own, one a request")
    .option("--rate <n>", rate)
    .option("--connections <n>", connections, "64")
    .option("--wallets <n>", "how many wallets are written, at random (default: 1000)")
    .option("--hot", "write one wallet only: every write waits for the same row")
    .option("--bulk <n>", "send so many writes in a request")
    .option("--balances", "read balances instead of writing")
    .addHelpText("after", `${notes}${verified}${walletsExamples}`)
    .action(loadAndRun(async () => (await import("./wallets.ts")).benchWallets));
  loadOptions(bench.command("transfers"), "30s")
    .description("transfers between wallets of this run's own, one a request")
    .option("--rate <n>", rate)
    .option("--connections <n>", connections, "64")
    .option("--wallets <n>", "how many wallets pay each other, at random", "1000")
    .option("--bulk <n>", "send so many transfers in a request")
    .option("--atomic", "make all transfers of a request or none")
    .addHelpText("after", `${notes}${verified}${transfersExamples}`)
    .action(loadAndRun(async () => (await import("./transfers.ts")).benchTransfers));
  loadOptions(bench.command("entries"), "30s")
    .description("journal entries of two lines, one a request unless told otherwise")
    .option("--rate <n>", rate)
    .option("--connections <n>", connections, "64")
    .option(
      "--accounts <a,b>",
      "the two accounts they are posted to (default: the first of the chart)",
    )
    .option("--bulk <n>", "send so many entries in a request, all of which are posted or none")
    .addHelpText("after", `${notes}${verified}${entriesExamples}`)
    .action(loadAndRun(async () => (await import("./entries.ts")).benchEntries));
  loadOptions(bench.command("streams"), "20s")
    .description("how long after the reply to a write its message comes")
    .option("--rate <n>", "writes a second, one after the other", "100")
    .option("--wallets <n>", "how many wallets are written, each with a reader", "50")
    .option("--read-url <url>", "another server on the same database, to read the streams from")
    .addHelpText("after", `${verified}${streamsExamples}`)
    .action(loadAndRun(async () => (await import("./streams.ts")).benchStreams));
  loadOptions(bench.command("overload"), "30s")
    .description("wallet writes at a multiple of the rate that the service sustains")
    .option("--factor <n>", "how many times the sustained rate", "2")
    .option("--connections <n>", connections, "8000")
    .option("--wallets <n>", "how many wallets are written, at random", "10000")
    .addHelpText("after", `${verified}${overloadExamples}`)
    .action(loadAndRun(async () => (await import("./overload.ts")).benchOverload));
  serviceOptions(bench.command("closes"))
    .description("a close of many entries while others write, its bundle and proofs")
    .option("--entries <n>", "how many entries are posted first", "1000000")
    .option("--other-ledger <id>", "a second ledger, whose entries are posted meanwhile")
    .option("--server-pid <pid>", serverPid)
    .addHelpText("after", `${verified}${closesExample}`)
    .action(loadAndRun(async () => (await import("./closes.ts")).benchCloses));
}

function loadOptions(command: Command, duration: string): Command {
  return serviceOptions(command)
    .option("--duration <duration>", "how long, such as 30s or 2m", duration)
    .option("--server-pid <pid>", serverPid);
}

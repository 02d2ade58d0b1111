// `ledgerctl bench`: load from real signed requests. What it does is in the files beside this one.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { runCommand } from "../../definition/run-command.ts";
import type { ClosesFlags } from "./closes.ts";
import type { BenchFlags, BenchKind } from "./settings.ts";

const notes = `
Without --rate every connection sends its next request when the last one was answered: the most that the
service does. With --rate requests are due at fixed times whether the service keeps up or not, and latency
counts from when a request was due, so that a stall is seen in all that had to wait for it.
`;
const verified = `
Afterwards all that was acknowledged is looked for through the API. What is missing, doubled or different
is named, and the exit code is 3. What was written stays in the ledger: use one made for it.`;

export function defineBench(program: Command): void {
  const bench = program
    .command("bench")
    .description("measure a service, and verify that it lost and doubled nothing");
  defineLoad(bench, "wallets", "30s", `${notes}${verified}`, [
    "ledgerctl bench wallets",
    "ledgerctl bench wallets --rate 5000 --duration 2m --json",
  ])
    .description("credits and debits of wallets of this run's own, one a request")
    .option("--rate <n>", "requests a second (default: as many as the service takes)")
    .option("--connections <n>", "connections, each with one request under way", "64")
    .option("--wallets <n>", "how many wallets are written, at random (default: 1000)")
    .option("--hot", "write one wallet only: every write waits for the same row")
    .option("--bulk <n>", "send so many writes in a request")
    .option("--balances", "read balances instead of writing");
  defineLoad(bench, "entries", "30s", `${notes}${verified}`, [
    "ledgerctl bench entries",
    "ledgerctl bench entries --accounts 1000,4000 --connections 16",
  ])
    .description("journal entries of two lines, one a request")
    .option("--rate <n>", "requests a second (default: as many as the service takes)")
    .option("--connections <n>", "connections, each with one request under way", "64")
    .option(
      "--accounts <a,b>",
      "the two accounts they are posted to (default: the first of the chart)",
    );
  defineLoad(bench, "streams", "20s", verified, [
    "ledgerctl bench streams",
    "ledgerctl bench streams --read-url http://127.0.0.1:8421",
  ])
    .description("how long after the reply to a write its message comes")
    .option("--rate <n>", "writes a second, one after the other", "100")
    .option("--wallets <n>", "how many wallets are written, each with a reader", "50")
    .option("--read-url <url>", "another server on the same database, to read the streams from");
  defineLoad(bench, "overload", "30s", verified, [
    "ledgerctl bench overload --connections 2000",
    "ledgerctl bench overload --factor 4 --json",
  ])
    .description("wallet writes at a multiple of the rate that the service sustains")
    .option("--factor <n>", "how many times the sustained rate", "2")
    .option("--connections <n>", "connections, each with one request under way", "8000")
    .option("--wallets <n>", "how many wallets are written, at random", "10000");
  serviceOptions(bench.command("closes"))
    .description("a close of many entries while others write, its bundle and proofs")
    .option("--entries <n>", "how many entries are posted first", "1000000")
    .option("--other-ledger <id>", "a second ledger, whose entries are posted meanwhile")
    .option("--server-pid <pid>", serverPid)
    .addHelpText("after", `${verified}\n\nExample:\n  $ ledgerctl bench closes --entries 100000`)
    .action((flags: ClosesFlags) =>
      runCommand(async (environment) =>
        (await import("./closes.ts")).runCloses(flags, environment),
      ),
    );
}

const serverPid = "the server's process on this machine, whose memory is watched (Linux)";

/** Defines a load; its other options are added to the command that comes back. */
function defineLoad(
  bench: Command,
  kind: BenchKind,
  duration: string,
  text: string,
  examples: readonly string[],
): Command {
  const listed = examples.map((example) => `\n  $ ${example}`).join("");
  return serviceOptions(bench.command(kind))
    .option("--duration <duration>", "how long, such as 30s or 2m", duration)
    .option("--server-pid <pid>", serverPid)
    .addHelpText("after", `${text}\n\nExamples:${listed}`)
    .action((flags: BenchFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).runBench(kind, flags, environment),
      ),
    );
}

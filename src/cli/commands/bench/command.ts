// `ledgerctl bench`: load from real signed requests. What it does is in the files beside this one.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { BenchFlags } from "./settings.ts";

const notes = `
Without --rate every connection sends its next request when the last one was answered: the most that the
service does. With --rate requests are due at fixed times whether the service keeps up or not, and latency
counts from when a request was due, so that a stall is seen in all that had to wait for it.

Afterwards all that was acknowledged is looked for through the API. What is missing, doubled or different
is named, and the exit code is 3. What was written stays in the books: use a ledger made for it.`;

export function defineBench(program: Command): void {
  const bench = program
    .command("bench")
    .description("measure a service, and verify that it lost and doubled nothing");
  loadOptions(serviceOptions(bench.command("wallets")))
    .description("credits and debits, one a request, to wallets of this run's own")
    .option("--wallets <n>", "how many wallets are written, at random (default: 1000)")
    .option("--hot", "write one wallet only: every write waits for the same row")
    .addHelpText(
      "after",
      `${notes}\n\nExamples:\n  $ ledgerctl bench wallets` +
        "\n  $ ledgerctl bench wallets --rate 5000 --duration 2m --json",
    )
    .action((flags: BenchFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).runBench("wallets", flags, environment),
      ),
    );
  loadOptions(serviceOptions(bench.command("entries")))
    .description("journal entries of two lines, one a request")
    .option(
      "--accounts <a,b>",
      "the two accounts they are posted to (default: the first of the chart)",
    )
    .addHelpText(
      "after",
      `${notes}\n\nExamples:\n  $ ledgerctl bench entries` +
        "\n  $ ledgerctl bench entries --accounts 1000,4000 --connections 16",
    )
    .action((flags: BenchFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).runBench("entries", flags, environment),
      ),
    );
}

function loadOptions(command: Command): Command {
  return command
    .option("--rate <n>", "requests a second (default: as many as the service takes)")
    .option("--duration <duration>", "how long, such as 30s or 2m", "30s")
    .option("--connections <n>", "connections, each with one request under way", "64");
}

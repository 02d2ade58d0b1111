// `ledgerctl top`: its options.
import type { Command } from "commander";
import { outputOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineTop(program: Command): void {
  outputOptions(program.command("top"))
    .description(
      "watch a running server: writes, batches, commits, queues, posting, streams, database",
    )
    .option("--url <url>", "the service (LEDGERCTL_URL), on this machine")
    .option("--metrics-url <url>", "where its /metrics are, if they have an address of their own")
    .option("--profile <name>", "a profile of the configuration file (LEDGERCTL_PROFILE)")
    .option("--interval <duration>", "how often the server is asked", "1s")
    .option(
      "--once",
      "print the figures of one interval and end, as is done where there is no terminal",
    )
    .addHelpText(
      "after",
      "\nRates are of the last interval. With --json it ends after one interval, too.\n\nExamples:" +
        "\n  $ ledgerctl top\n  $ ledgerctl top --once --interval 5s" +
        "\n  $ ledgerctl top --json | jq .writes.perSecond",
    )
    .action(loadAndRun(async () => (await import("./top.ts")).top));
}

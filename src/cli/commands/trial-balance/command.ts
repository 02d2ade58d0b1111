// `ledgerctl trial-balance`: its options.
import type { Command } from "commander";
import { minorOption, pagerOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineTrialBalance(program: Command): void {
  minorOption(pagerOption(serviceOptions(program.command("trial-balance"))))
    .description("the trial balance of the live books, up to now unless told")
    .option("--period <label>", "of a period, such as 2026-03, with what came before as openings")
    .option("--as-of <time>", "up to the end of a day (2026-03-31), or to a time, exclusive")
    .option("--bundle <file>", "the closed one of a bundle, offline; - for stdin")
    .option("--csv", "the accounts as CSV, amounts in smallest units")
    .addHelpText(
      "after",
      "\nExit code 3 when it does not balance, or the bundle does not match itself.\n\nExamples:" +
        "\n  $ ledgerctl trial-balance --period 2026-03" +
        "\n  $ ledgerctl trial-balance --as-of 2026-03-31 --json" +
        "\n  $ ledgerctl trial-balance --period 2026-03 --csv > march.csv" +
        "\n  $ ledgerctl trial-balance --bundle 2026-02.ndjson",
    )
    .action(loadAndRun(async () => (await import("./trial-balance.ts")).showTrialBalance));
}

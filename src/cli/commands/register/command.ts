// `ledgerctl register`: its options.
import type { Command } from "commander";
import { listOptions, minorOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineRegister(program: Command): void {
  minorOption(listOptions(serviceOptions(program.command("register <code>"))))
    .description("the lines of an account by date, with its running balance; debits are positive")
    .option("--from <date>", "dated at or after: a day (2026-03-15) or an ISO 8601 time")
    .option("--to <date>", "dated before")
    .option("--period <label>", "dated in a period, in place of --from and --to")
    .option("--currency <code>", "lines in this transaction currency alone, in its own units")
    .option("--limit <n>", "at most so many lines, 0 for all; 50 unless told, and all for programs")
    .addHelpText(
      "after",
      "\nWith --json the first line is {opening}, the last {closing}: the balances before and at the end of the range." +
        "\n\nExamples:\n  $ ledgerctl register 1000" +
        "\n  $ ledgerctl register 1000 --period 2026-03" +
        "\n  $ ledgerctl register 4000 --from 2026-01-01 --to 2026-04-01 --csv > revenue.csv",
    )
    .action(loadAndRun(async () => (await import("./register.ts")).showRegister));
}

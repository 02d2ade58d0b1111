// `ledgerctl balance`: its options.
import type { Command } from "commander";
import { minorOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineBalance(program: Command): void {
  minorOption(serviceOptions(program.command("balance <code>")))
    .description("the balance of an account; debits are positive")
    .option("--currency <code>", "what was booked in this transaction currency, in its own units")
    .option("--as-of <date>", "up to the end of a day (2026-03-31), or to a time, exclusive")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl balance 1000\n  $ ledgerctl balance 1000 --currency EUR --json" +
        "\n  $ ledgerctl balance 1000 --as-of 2026-03-31",
    )
    .action(loadAndRun(async () => (await import("./balance.ts")).showBalance));
}

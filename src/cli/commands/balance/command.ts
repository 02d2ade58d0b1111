// `ledgerctl balance`: its options.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineBalance(program: Command): void {
  serviceOptions(program.command("balance <code>"))
    .description("the balance of an account; debits are positive")
    .option("--currency <code>", "what was booked in this transaction currency, in its own units")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl balance 1000\n  $ ledgerctl balance 1000 --currency EUR --json",
    )
    .action(loadAndRun(async () => (await import("./balance.ts")).showBalance));
}

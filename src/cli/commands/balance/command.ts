// `ledgerctl balance`: its options. What it does is in run.ts.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { BalanceFlags } from "./run.ts";

export function defineBalance(program: Command): void {
  serviceOptions(program.command("balance <code>"))
    .description("the balance of an account; debits are positive")
    .option("--currency <code>", "what was booked in this transaction currency, in its own units")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl balance 1000\n  $ ledgerctl balance 1000 --currency EUR --json",
    )
    .action((code: string, flags: BalanceFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).showBalance(code, flags, environment),
      ),
    );
}

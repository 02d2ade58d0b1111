// `ledgerctl ledger`: making ledgers and changing their state, on the database itself.
import type { Command } from "commander";
import {
  listOptions,
  databaseOptions,
  eitherOptions,
  unknownCurrencyHelp,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineLedger(program: Command): void {
  const ledger = program.command("ledger").description("ledgers and their state");
  databaseOptions(ledger.command("create <name>"))
    .description("make a ledger with its chart of accounts")
    .requiredOption(
      "--org <id>",
      "the organization that owns it, or its name where only one has it",
    )
    .requiredOption("--currency <code>", "its functional currency, such as USD")
    .option("--chart <file>", "a CSV of accounts: glAccountCode,name[,type][,active]")
    .option("--allow-unknown-currency", unknownCurrencyHelp)
    .option(
      "--closes-in-order",
      "a close also closes what lies before its period, which must be empty or closed",
    )
    .addHelpText(
      "after",
      `\nExample:\n  $ ledgerctl ledger create Main --org "$(ledgerctl org list --quiet | head -n 1)" --currency USD --chart chart.csv`,
    )
    .action(loadAndRun(async () => (await import("./create.ts")).createLedgerWithChart));
  listOptions(eitherOptions(ledger.command("list")))
    .description("list ledgers, through the API or (without a key) from the database")
    .addHelpText("after", "\nExample:\n  $ ledgerctl ledger list")
    .action(loadAndRun(async () => (await import("./list.ts")).listLedgers));
  databaseOptions(ledger.command("suspend <id>"))
    .description("let a ledger only be read")
    .addHelpText("after", exampleOf("suspend"))
    .action(loadAndRun(async () => (await import("./suspend.ts")).suspendLedger));
  databaseOptions(ledger.command("activate <id>"))
    .description("let a suspended ledger be written again")
    .addHelpText("after", exampleOf("activate"))
    .action(loadAndRun(async () => (await import("./activate.ts")).activateLedger));
  databaseOptions(ledger.command("close <id>"))
    .description("close a ledger for ever")
    .option("--yes", "do not ask")
    .addHelpText("after", exampleOf("close"))
    .action(loadAndRun(async () => (await import("./close.ts")).closeLedger));
}

function exampleOf(verb: string): string {
  return (
    "\nExample:\n  $ ORG=$(ledgerctl org list --quiet | head -n 1)" +
    '\n  $ LEDGER=$(ledgerctl ledger create Trial --org "$ORG" --currency USD --quiet)' +
    `\n  $ ledgerctl ledger ${verb} "$LEDGER"`
  );
}

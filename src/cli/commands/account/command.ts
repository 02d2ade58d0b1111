// `ledgerctl account`: the chart of accounts of a ledger.
import type { Command } from "commander";
import { eitherOptions, pagerOption } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineAccount(program: Command): void {
  const account = program.command("account").description("the chart of accounts of a ledger");
  eitherOptions(account.command("add <code> <name>"))
    .description("add an account")
    .option("--type <type>", "asset, liability, equity, income or expense")
    .addHelpText("after", '\nExample:\n  $ ledgerctl account add 6000 "Travel" --type expense')
    .action(loadAndRun(async () => (await import("./add.ts")).addAccount));
  eitherOptions(account.command("import <file>"))
    .description("add accounts from a CSV, and rename those that are there; nothing is deleted")
    .addHelpText("after", "\nExample:\n  $ ledgerctl account import chart.csv")
    .action(loadAndRun(async () => (await import("./import.ts")).importChart));
  eitherOptions(account.command("activate <code>"))
    .description("let an account be posted to again")
    .addHelpText("after", "\nExample:\n  $ ledgerctl account activate 7000")
    .action(loadAndRun(async () => (await import("./activate.ts")).activateAccount));
  eitherOptions(account.command("deactivate <code>"))
    .description("refuse new postings to an account")
    .addHelpText("after", "\nExample:\n  $ ledgerctl account deactivate 7000")
    .action(loadAndRun(async () => (await import("./deactivate.ts")).deactivateAccount));
  pagerOption(eitherOptions(account.command("list")))
    .description("list the chart, through the API or (without a key) from the database")
    .option("--active-only", "leave out inactive accounts")
    .option("--csv", "as CSV that `account import` and `ledger create --chart` read")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl account list --active-only" +
        "\n  $ ledgerctl account list --csv > chart.csv",
    )
    .action(loadAndRun(async () => (await import("./list.ts")).listChart));
}

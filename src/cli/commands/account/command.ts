// `ledgerctl account`: the chart of accounts of a ledger.
import type { Command } from "commander";
import { eitherOptions, ledgerOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { AccountFlags, AddAccountFlags, ListAccountsFlags } from "./run.ts";

export function defineAccount(program: Command): void {
  const account = program.command("account").description("the chart of accounts of a ledger");
  ledgerOptions(account.command("add <code> <name>"))
    .description("add an account")
    .option("--type <type>", "asset, liability, equity, income or expense")
    .addHelpText("after", '\nExample:\n  $ ledgerctl account add 6000 "Travel" --type expense')
    .action((code: string, name: string, flags: AddAccountFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).addAccount(code, name, flags, environment),
      ),
    );
  ledgerOptions(account.command("import <file>"))
    .description("add accounts from a CSV, and rename those that are there; nothing is deleted")
    .addHelpText("after", "\nExample:\n  $ ledgerctl account import chart.csv")
    .action((file: string, flags: AccountFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).importAccountsCommand(file, flags, environment),
      ),
    );
  for (const active of [true, false]) {
    const verb = active ? "activate" : "deactivate";
    ledgerOptions(account.command(`${verb} <code>`))
      .description(
        active ? "let an account be posted to again" : "refuse new postings to an account",
      )
      .addHelpText("after", `\nExample:\n  $ ledgerctl account ${verb} 5000`)
      .action((code: string, flags: AccountFlags) =>
        runCommand(async (environment) =>
          (await import("./run.ts")).setAccountActiveCommand(code, active, flags, environment),
        ),
      );
  }
  eitherOptions(account.command("list"))
    .description("list the chart, through the API or (without a key) from the database")
    .option("--active-only", "leave out inactive accounts")
    .option("--csv", "as CSV that `account import` and `ledger create --chart` read")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl account list --active-only" +
        "\n  $ ledgerctl account list --csv > chart.csv",
    )
    .action((flags: ListAccountsFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).listAccountsCommand(flags, environment),
      ),
    );
}

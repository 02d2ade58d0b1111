// `ledgerctl ledger`: making ledgers and changing their state, on the database itself.
import type { Command } from "commander";
import type { LedgerStatus } from "../../../core/ledger.ts";
import { databaseOptions, eitherOptions, type DatabaseFlags } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { ChangeStateFlags, CreateLedgerFlags, ListLedgersFlags } from "./run.ts";

export function defineLedger(program: Command): void {
  const ledger = program.command("ledger").description("ledgers and their state");
  databaseOptions(ledger.command("create <name>"))
    .description("make a ledger with its chart of accounts")
    .requiredOption("--org <id>", "the organization that owns it")
    .requiredOption("--currency <code>", "its functional currency, such as USD")
    .option("--chart <file>", "a CSV of accounts: glAccountCode,name[,type][,active]")
    .option(
      "--closes-in-order",
      "a close also closes what lies before its period, which must be empty or closed",
    )
    .addHelpText(
      "after",
      `\nExample:\n  $ ledgerctl ledger create Main --org "$(ledgerctl org list --quiet | head -n 1)" --currency USD --chart chart.csv`,
    )
    .action((name: string, flags: CreateLedgerFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).createLedgerCommand(name, flags, environment),
      ),
    );
  eitherOptions(ledger.command("list"))
    .description("list ledgers, through the API or (without a key) from the database")
    .addHelpText("after", "\nExample:\n  $ ledgerctl ledger list")
    .action((flags: ListLedgersFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).listLedgersCommand(flags, environment),
      ),
    );
  defineStateChange(ledger, "suspend", "suspended", "let a ledger only be read");
  defineStateChange(ledger, "activate", "active", "let a suspended ledger be written again");
  defineStateChange(ledger, "close", "closed", "close a ledger for ever");
}

function defineStateChange(
  ledger: Command,
  verb: string,
  status: LedgerStatus,
  description: string,
): void {
  const command = databaseOptions(ledger.command(`${verb} <id>`)).description(description);
  if (status === "closed") command.option("--yes", "do not ask");
  command
    .addHelpText(
      "after",
      "\nExample:\n  $ ORG=$(ledgerctl org list --quiet | head -n 1)" +
        '\n  $ LEDGER=$(ledgerctl ledger create Trial --org "$ORG" --currency USD --quiet)' +
        `\n  $ ledgerctl ledger ${verb} "$LEDGER"`,
    )
    .action((id: string, flags: ChangeStateFlags & DatabaseFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).changeState(id, status, flags, environment),
      ),
    );
}

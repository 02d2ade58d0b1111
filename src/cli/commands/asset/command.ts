// `ledgerctl asset`: the rules by which wallets of an asset are posted.
import type { Command } from "commander";
import {
  listOptions,
  eitherOptions,
  ledgerOptions,
  unknownCurrencyHelp,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineAsset(program: Command): void {
  const asset = program.command("asset").description("how wallets of an asset meet the ledger");
  eitherOptions(asset.command("set <code>"))
    .description("change an asset's rule; what is not named stays as it is")
    .option(
      "--rate <rate>",
      "functional smallest units per smallest unit of the asset, exact; or none",
    )
    .option("--exponent <n>", "decimals of its major unit; currencies have those of ISO 4217")
    .option("--wallets-account <code>", "the account that holds what wallets hold")
    .option("--clearing-account <code>", "the account on the other side")
    .option(
      "--overdraft <amount>",
      "how far below zero a wallet may go, in smallest units; or none",
    )
    .option("--max-balance <amount>", "what a wallet may have at most, in smallest units; or none")
    .option(
      "--daily-debit-max <amount>",
      "what may be taken out of a wallet in a UTC day, in smallest units; or none",
    )
    .option("--allow-unknown-currency", unknownCurrencyHelp)
    .addHelpText("after", setHelp)
    .action(loadAndRun(async () => (await import("./set.ts")).setAsset));
  listOptions(ledgerOptions(asset.command("list")))
    .description("list the rules in force, and what waits to be posted")
    .addHelpText("after", "\nExample:\n  $ ledgerctl asset list --json | jq -r .assetCode")
    .action(loadAndRun(async () => (await import("./list.ts")).listAssets));
}

const setHelp = `
Writes that wallets accepted before keep the rule they were accepted under; those of a currency that had
no rate yet are posted under its first.

Examples:
  $ ledgerctl asset set EUR --rate 1.0845
  $ ledgerctl asset set POINTS --exponent 2 --overdraft 5000
  $ ledgerctl asset set POINTS --max-balance 1000000 --daily-debit-max 50000`;

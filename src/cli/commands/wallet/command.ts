// `ledgerctl wallet`: wallets through the API. What the commands do is in files beside this one.
import type { Command } from "commander";
import { listOptions, minorOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const keyHelp = `
KEY is a wallet's callerKey in the ledger of --ledger, or a whole walletKey: {ledgerId}:{callerKey}.`;

export function defineWallet(program: Command): void {
  const wallet = program.command("wallet").description("wallets");
  movementCommand(wallet, "credit")
    .description("add to a wallet")
    .action(loadAndRun(async () => (await import("./credit.ts")).creditWallet));
  movementCommand(wallet, "debit")
    .description("take from a wallet, as far as it has it available")
    .action(loadAndRun(async () => (await import("./debit.ts")).debitWallet));
  defineTransfer(wallet);
  defineReads(wallet);
  defineHolds(wallet);
  defineFreezing(wallet);
  minorOption(serviceOptions(wallet.command("tail <key...>")))
    .description("follow wallets: live on a terminal, else a line for each change and each posting")
    .option("--since <seq>", "begin with what came after this seq; with one KEY only")
    .addHelpText(
      "after",
      `${keyHelp} A connection that is lost is made again, and nothing is missed.` +
        "\nOn a terminal q ends it, and the keys are on the screen; into a pipe it goes on until Ctrl-C." +
        "\n\nExamples:\n  $ ledgerctl wallet tail alice bob" +
        "\n  $ ledgerctl wallet tail alice --since 0 --json | jq -r .balance",
    )
    .action(loadAndRun(async () => (await import("./tail.ts")).tailWallets));
}

function movementCommand(wallet: Command, type: "credit" | "debit"): Command {
  return movementOptions(serviceOptions(wallet.command(`${type} <key> <amount>`))).addHelpText(
    "after",
    `${keyHelp}\n\nExamples:\n  $ ledgerctl wallet ${type} alice 12500 --asset USD` +
      `\n  $ ledgerctl wallet ${type} alice 125.00 --asset USD --major --external-id order-17`,
  );
}

function defineTransfer(wallet: Command): void {
  movementOptions(serviceOptions(wallet.command("transfer <from> <to> <amount>")))
    .description("move an amount from one wallet to another, in one transaction")
    .addHelpText(
      "after",
      `
FROM and TO are callerKeys in the ledger of --ledger, or whole walletKeys of one ledger.

Examples:
  $ ledgerctl wallet transfer alice bob 500 --asset USD
  $ ledgerctl wallet transfer alice bob 5.00 --asset USD --major --external-id rent-2026-03`,
    )
    .action(loadAndRun(async () => (await import("./transfer.ts")).transferFunds));
}

function defineFreezing(wallet: Command): void {
  serviceOptions(wallet.command("freeze <key>"))
    .description("let nothing be taken out of a wallet; the key needs the scope admin")
    .addHelpText("after", `${keyHelp}\n\nExample:\n  $ ledgerctl wallet freeze alice`)
    .action(loadAndRun(async () => (await import("./freeze.ts")).freezeWallet));
  serviceOptions(wallet.command("unfreeze <key>"))
    .description("let a frozen wallet be used again; the key needs the scope admin")
    .addHelpText("after", `${keyHelp}\n\nExample:\n  $ ledgerctl wallet unfreeze alice`)
    .action(loadAndRun(async () => (await import("./freeze.ts")).unfreezeWallet));
}

function defineReads(wallet: Command): void {
  minorOption(serviceOptions(wallet.command("balance <key>")))
    .description("balance and available")
    .addHelpText("after", `${keyHelp}\n\nExample:\n  $ ledgerctl wallet balance alice`)
    .action(loadAndRun(async () => (await import("./balance.ts")).showWalletBalance));
  minorOption(listOptions(serviceOptions(wallet.command("list"))))
    .description("the ledger's wallets and what is in them, by the UTF-8 bytes of their callerKeys")
    .option("--prefix <p>", "those whose callerKeys begin so")
    .option("--asset <code>", "those of one asset")
    .option("--limit <n>", "at most so many, 0 for all; 50 unless told, and all with --json")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl wallet list --prefix shop-" +
        "\n  $ ledgerctl wallet list --asset USD --json | jq -r .callerKey",
    )
    .action(loadAndRun(async () => (await import("./list.ts")).listWallets));
  minorOption(listOptions(serviceOptions(wallet.command("history <key>"))))
    .description("a wallet's log in order, with the entries that its writes were posted with")
    .option("--after <seq>", "what came after this seq")
    .option("--limit <n>", "at most so many, 0 for all; 50 unless told, and all with --json")
    .addHelpText("after", `${keyHelp}\n\nExample:\n  $ ledgerctl wallet history alice --limit 10`)
    .action(loadAndRun(async () => (await import("./history.ts")).listWalletHistory));
}

function defineHolds(wallet: Command): void {
  movementOptions(serviceOptions(wallet.command("reserve <key> <amount>")))
    .description("hold a part of what is available, to be committed or released")
    .option("--expires-in <duration>", "when it lapses by itself, such as 10m (default: never)")
    .addHelpText(
      "after",
      `${keyHelp}\n\nExample:\n  $ HOLD=$(ledgerctl wallet reserve alice 5000 --asset USD --expires-in 10m --quiet)`,
    )
    .action(loadAndRun(async () => (await import("./reserve.ts")).reserveFunds));
  minorOption(serviceOptions(wallet.command("commit <key> <hold> [amount]")))
    .description("take what was held, or less of it, which releases the rest")
    .addHelpText(
      "after",
      `${keyHelp}\n\nExample:\n  $ HOLD=$(ledgerctl wallet reserve alice 5000 --asset USD --quiet)` +
        '\n  $ ledgerctl wallet commit alice "$HOLD" 4200',
    )
    .action(loadAndRun(async () => (await import("./commit.ts")).commitHold));
  minorOption(serviceOptions(wallet.command("release <key> <hold>")))
    .description("let go of what was held")
    .addHelpText(
      "after",
      `${keyHelp}\n\nExample:\n  $ HOLD=$(ledgerctl wallet reserve alice 5000 --asset USD --quiet)` +
        '\n  $ ledgerctl wallet release alice "$HOLD"',
    )
    .action(loadAndRun(async () => (await import("./release.ts")).releaseHold));
}

function movementOptions(command: Command): Command {
  return command
    .requiredOption("--asset <code>", "the wallet's asset, such as USD")
    .option("--external-id <id>", "the idempotency key; one is made up where it is left out")
    .option("--metadata <json>", "kept with the write as it is given, and not read")
    .option("--major", "the amount is in major units, such as 125.00")
    .option("--minor", "print amounts in smallest units, as --json has them");
}

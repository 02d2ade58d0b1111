// `ledgerctl seed`: books full of realistic data.
import type { Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const seedHelp = `
Makes an organization, a ledger in USD with a chart, an API key, and in each period: invoices at home and abroad
(EUR, GBP, JPY, KWD), payments, bills, payroll, reversals, wallets and their postings. Each period is closed.

The same seed, flags and version of ledgerctl give the same ids, entries, Merkle roots and close hashes, in any
database; only the API key and its secret are random. All of it is written or nothing. A database takes each seed
once: again, it is exit code 6. Transfers, frozen wallets and limits come last: entries, roots and close hashes are
the same with them and without. With --quiet, one line: the ledger, the key and its secret.

Examples:
  $ ledgerctl seed
  $ ledgerctl seed --seed 7 --entries 10000 --periods 2026-01,2026-02,2026-03
  $ ledgerctl seed --seed 9 --transfers 500 --frozen 2 --limits
  $ ledgerctl seed --seed 8 --wallets 0 --writes 0 --json | jq -r '.closes[].merkleRoot'`;

export function defineSeed(program: Command): void {
  databaseOptions(program.command("seed"))
    .description("make books full of realistic data, the same for the same seed")
    .option("--seed <n>", "what everything is made from", "1")
    .option("--entries <n>", "journal entries in all, postings of wallets among them", "1000")
    .option("--wallets <n>", "wallets; 20 unless told, or as many as there are writes")
    .option("--writes <n>", "writes of wallets in all; ten a wallet unless told")
    .option("--transfers <n>", "transfers between wallets, a fifth of them out of holds", "0")
    .option("--frozen <n>", "wallets that are frozen in the end", "0")
    .option("--limits", "give each asset a greatest balance and a limit for a day's debits")
    .option("--periods <labels>", "the periods to fill and close, by commas", "2026-01,2026-02")
    .addHelpText("after", seedHelp)
    .action(loadAndRun(async () => (await import("./seed.ts")).seed));
}

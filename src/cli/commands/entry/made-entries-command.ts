// `ledgerctl entry correct`, `close-accounts` and `revalue`: entries that are made from the books.
import type { Command } from "commander";
import { collect, serviceOptions, unknownCurrencyHelp } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineMadeEntries(entry: Command): void {
  defineCorrect(entry);
  defineCloseAccounts(entry);
  defineRevalue(entry);
}

function defineCorrect(entry: Command): void {
  serviceOptions(entry.command("correct <id>"))
    .description("undo an entry of a closed period: its amounts negated, in an open period, once")
    .option("--date <date>", "the date of the correction, in an open period; now unless given")
    .option("--reason <text>", "its description")
    .option("--again", "correct an entry that was corrected, or reversed, before")
    .option("--dry-run", "print the entry, send nothing")
    .addHelpText(
      "after",
      "\nThe correction is an entry of type ADJUSTING (of a closing entry: CLOSING) whose metadata has correctsJournalId." +
        "\nPost the entry as it should have been afterwards.\n\nExample:" +
        "\n  $ ID=$(ledgerctl entry post --line 1000:150000 --line 4000:-150000 --quiet)" +
        '\n  $ ledgerctl entry correct "$ID" --reason "A sale that was not ours"',
    )
    .action(loadAndRun(async () => (await import("./correct.ts")).correctEntry));
}

function defineCloseAccounts(entry: Command): void {
  serviceOptions(entry.command("close-accounts"))
    .description(
      "bring what income and expense accounts moved in a period to zero, by a closing entry",
    )
    .requiredOption("--period <label>", "the period, such as 2026")
    .requiredOption("--to <code>", "the account that gets the result, such as retained earnings")
    .option("--dry-run", "print the entry, send nothing")
    .addHelpText(
      "after",
      "\nIt is dated at the last moment of the period. Again, it posts what is left: entries that came late, a closing" +
        "\nentry that was reversed. With nothing left it posts nothing, and ends with 0.\n\nExamples:" +
        "\n  $ ledgerctl entry close-accounts --period 2025 --to 3000 --dry-run" +
        "\n  $ ledgerctl entry close-accounts --period 2025 --to 3000",
    )
    .action(loadAndRun(async () => (await import("./close-accounts.ts")).closeAccounts));
}

function defineRevalue(entry: Command): void {
  serviceOptions(entry.command("revalue"))
    .description("bring foreign balances of assets and liabilities to their worth at a day's rates")
    .requiredOption(
      "--rate <currency=rate>",
      "functional currency for one of the currency, both in major units; repeat it",
      collect,
    )
    .requiredOption("--date <date>", "the end of this day, or an ISO 8601 time")
    .requiredOption("--gains <code>", "the account of gains")
    .requiredOption("--losses <code>", "the account of losses")
    .option("--dry-run", "print the entry, send nothing")
    .option("--allow-unknown-currency", unknownCurrencyHelp)
    .addHelpText(
      "after",
      "\nEach line changes what a balance is worth, and not the balance in its currency. Again at the same rates, it" +
        "\nposts nothing.\n\nExamples:" +
        "\n  $ ledgerctl entry revalue --rate EUR=1.0845 --date 2026-03-31 --gains 4000 --losses 5000 --dry-run" +
        "\n  $ ledgerctl entry revalue --rate EUR=1.09 --rate JPY=0.0064 --date 2026-02-28 --gains 4000 --losses 5000",
    )
    .action(loadAndRun(async () => (await import("./revalue.ts")).revalueAccounts));
}

// `ledgerctl entry`: journal entries. What the commands do is in a file each beside this one.
import type { Command } from "commander";
import {
  collect,
  listOptions,
  minorOption,
  pagerOption,
  serviceOptions,
  unknownCurrencyHelp,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";
import { defineMadeEntries } from "./made-entries-command.ts";

export function defineEntry(program: Command): void {
  const entry = program.command("entry").description("journal entries");
  definePost(entry);
  defineReverse(entry);
  minorOption(pagerOption(serviceOptions(entry.command("show <id>"))))
    .description("show an entry with its lines")
    .addHelpText(
      "after",
      '\nExample:\n  $ ledgerctl entry show "$(ledgerctl entry list --limit 1 --quiet)"',
    )
    .action(loadAndRun(async () => (await import("./show.ts")).showEntry));
  defineList(entry);
  defineTail(entry);
  defineMadeEntries(entry);
  defineImport(entry);
}

function definePost(entry: Command): void {
  serviceOptions(entry.command("post [file]"))
    .description(
      "post one entry, or a file of entries (`-` is stdin); posting a file again is safe",
    )
    .option(
      "--line <code:amount>",
      "a line, debits positive; with a currency, 1100:+100000USD@0.92; repeat it",
      collect,
    )
    .option("--major", "amounts of --line are in major units, such as 125.00")
    .option("--like <id>", "as this entry: its lines, type and description, but for what flags say")
    .option("--edit", "open the entry in an editor (VISUAL, EDITOR) and post what it ends with")
    .option(
      "--external-id <id>",
      "the entry's idempotency key; one is made up where it is left out",
    )
    .option("--date <date>", "its date: a day (2026-03-15, midnight UTC) or an ISO 8601 time")
    .option("--type <type>", "its type: STANDARD, ADJUSTING, OPENING or CLOSING")
    .option("--description <text>", "its description")
    .option("--meta <key=value>", "metadata, a text; repeat it", collect)
    .option("--allow-unknown-currency", unknownCurrencyHelp)
    .option("--dry-run", "check what can be checked here, print what would be sent, send nothing")
    .option(
      "--format <format>",
      "what the file is: json, ndjson or csv; else its name or content tells",
    )
    .option(
      "--concurrency <n>",
      "requests under way at once; 16 unless told, and 1 up to 512 KiB, which keeps the order",
    )
    .addHelpText("after", postHelp)
    .action(loadAndRun(async () => (await import("./post.ts")).postEntries));
}

const postHelp = `
A line in another currency says what it is worth: @RATE is the ledger's currency for one of the other, both in major units,
and the amount at that rate is rounded half to even; @@AMOUNT is the worth itself. What it comes to is said on stderr.
With --like, lines of --line stand in for those of the same account.

A file is a JSON entry, an array of entries, NDJSON or CSV. One JSON object is a single entry: its result
is printed, and a known externalId is a conflict (exit 6). All else is a list: a result for each entry, a
summary, and entries that are in already with the same content are skipped. An entry without an
externalId gets one that is derived from its content, so a list can be posted again until all of it is in.

A CSV has a row a line; the rows of an entry stand together. Its columns, in any order: externalId,
transactionDate, eventType, originSystem, originAccount, entryType, description, metadata (JSON),
glAccountCode, functionalAmount, functionalCurrency, transactionAmount, transactionCurrency, spotRate,
lineDescription. Rows with the same externalId are one entry, whose later rows repeat what the first says about the
entry or leave it empty. Without an externalId an entry ends where its lines sum to zero. Commas separate columns.

Examples:
  $ ledgerctl entry post --line 1000:+12500 --line 4000:-12500 --description "First sale"
  $ ledgerctl entry post --line 1000:125.00 --line 4000:-125.00 --major --date 2026-03-15
  $ ledgerctl entry post --line 1100:+1000.00EUR@1.0845 --line 4000:-1084.50 --major
  $ ledgerctl entry post --line 3000:-500.00 --line 1000:500.00 --major --type OPENING
  $ ID=$(ledgerctl entry post --line 5000:80000 --line 1000:-80000 --description Rent --date 2026-04-01 --quiet)
  $ ledgerctl entry post --like "$ID" --date 2026-05-01
  $ EDITOR="sed -i s/125.00/80.00/" ledgerctl entry post --edit --line 1000:12500 --line 4000:-12500
  $ ledgerctl entry post january.csv
  $ ledgerctl entry post --dry-run - < entries.ndjson`;

function defineReverse(entry: Command): void {
  serviceOptions(entry.command("reverse <id>"))
    .description("post the reversal of an entry: the same lines with every amount negated")
    .option("--external-id <id>", "the reversal's idempotency key")
    .option("--date <date>", "its date; the original's where it is left out")
    .option("--description <text>", "its description")
    .option("--meta <key=value>", "metadata, a text; repeat it", collect)
    .addHelpText(
      "after",
      "\nExample:\n  $ ID=$(ledgerctl entry post --line 1000:500 --line 4000:-500 --quiet)" +
        '\n  $ ledgerctl entry reverse "$ID" --description "Posted to the wrong account"',
    )
    .action(loadAndRun(async () => (await import("./reverse.ts")).reverseEntry));
}

function defineList(entry: Command): void {
  minorOption(listOptions(serviceOptions(entry.command("list"))))
    .description("list entries, in the order in which they were posted unless told")
    .option("--period <label>", "dated in a period: as it was closed, else what its label says")
    .option("--account <code>", "with a line on this account")
    .option("--from <date>", "dated at or after: a day (2026-03-15) or an ISO 8601 time")
    .option("--to <date>", "dated before")
    .option("--external-id <id>", "with this externalId")
    .option("--text <text>", "with this in a description, the externalId or the metadata")
    .option("--amount <n>", "with a line of this amount, in smallest units, its sign aside")
    .option("--min <n>", "with a line of at least this amount")
    .option("--max <n>", "with a line of at most this amount")
    .option("--major", "--amount, --min and --max are in major units, such as 125.00")
    .option("--type <type>", "of a type: STANDARD, ADJUSTING, OPENING, CLOSING or REVERSAL")
    .option("--sort <order>", "by sequence, or by date", "sequence")
    .option("--desc", "the last first")
    .option("--limit <n>", "at most so many, 0 for all; 50 unless told, and all with --json")
    .option("--after <sequence>", "behind the entry with this sequence")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl entry list --period 2026-03" +
        "\n  $ ledgerctl entry list --account 1000 --from 2026-01-01 --to 2026-02-01" +
        "\n  $ ledgerctl entry list --text rent --min 100.00 --major --sort date --desc" +
        "\n  $ ledgerctl entry list --json | jq -r .journalId",
    )
    .action(loadAndRun(async () => (await import("./list.ts")).listEntries));
}

function defineTail(entry: Command): void {
  minorOption(serviceOptions(entry.command("tail")))
    .description("follow the journal: live on a terminal, else a line for each entry")
    .option("--since <sequence>", "begin with the entry after this one; else with the next")
    .addHelpText(
      "after",
      "\nA connection that is lost is made again: each entry comes once, in order. On a terminal q ends it, and the keys are" +
        "\non the screen; into a pipe it goes on until Ctrl-C." +
        "\n\nExamples:\n  $ ledgerctl entry tail" +
        "\n  $ ledgerctl entry tail --since 0 --json | jq -r .journalId",
    )
    .action(loadAndRun(async () => (await import("./tail.ts")).tailEntries));
}

function defineImport(entry: Command): void {
  serviceOptions(entry.command("import <file>"))
    .description("post the rows of a bank's CSV, by rules in the manner of hledger's")
    .requiredOption("--rules <file>", "what the columns are, and which accounts they go to")
    .option("--dry-run", "print what would be posted, and post nothing")
    .addHelpText("after", importHelp)
    .action(loadAndRun(async () => (await import("./import.ts")).importBankFile));
}

const importHelp = `
The rules are those of hledger's CSV files: skip, separator, decimal-mark, date-format, fields, if with patterns and
skip or end, and date, description, account1, account2, amount, amount-in, amount-out, currency, code, comment, with %1
or %name for a column. Accounts are codes of the chart. docs/cli.md has them all. A row becomes an entry of two lines:
the amount on account1, its negation on account2. Importing a file again posts nothing twice; of equal rows in one file,
each is an entry. If a row can't be read, nothing is posted.

Examples:
  $ ledgerctl entry import bank.csv --rules bank.rules --dry-run
  $ ledgerctl entry import bank.csv --rules bank.rules`;

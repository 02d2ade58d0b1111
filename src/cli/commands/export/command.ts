// `ledgerctl export`: the books for other programs.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const exportHelp = `
Without --period, --from or --to, all of the books. hledger and beancount accept what is written, with every account of
the chart declared, and come to the same balances: those in functional currency at cost (\`hledger balance -B\`). csv and
ndjson hold everything that \`entry post\` needs to post the entries into another ledger with the same chart. How
account codes become names of those programs, and what is written otherwise than it was posted, is in docs/cli.md.

Examples:
  $ ledgerctl export --format hledger --out books.journal
  $ ledgerctl export --period 2026-01 --format beancount --out january.beancount
  $ ledgerctl export --from 2026-01-01 --to 2026-02-01 --format csv > january.csv
  $ ledgerctl export --format ndjson | wc -l`;

export function defineExport(program: Command): void {
  serviceOptions(program.command("export"))
    .description("write entries for hledger, beancount or spreadsheets, or to be posted elsewhere")
    .requiredOption("--format <format>", "hledger, beancount, csv or ndjson")
    .option("--period <label>", "the entries of a period, closed or not")
    .option("--from <date>", "dated at or after: a day (2026-03-15) or an ISO 8601 time")
    .option("--to <date>", "dated before")
    .option("--out <file>", "the file; stdout where it is left out, or -")
    .addHelpText("after", exportHelp)
    .action(loadAndRun(async () => (await import("./export.ts")).exportBooks));
}

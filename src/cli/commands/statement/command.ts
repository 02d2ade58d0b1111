// `ledgerctl balance-sheet` and `income-statement`: their options.
import type { Command } from "commander";
import { listOptions, minorOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineBalanceSheet(program: Command): void {
  statementOptions(program.command("balance-sheet").alias("bs"))
    .description("what assets, liabilities and equity came to, and the result up to then")
    .addHelpText("after", helpOf("balance-sheet", "bs"))
    .action(loadAndRun(async () => (await import("./statement.ts")).showBalanceSheet));
}

export function defineIncomeStatement(program: Command): void {
  statementOptions(program.command("income-statement").alias("is"))
    .description("income and expenses, closing entries left out")
    .addHelpText("after", helpOf("income-statement", "is"))
    .action(loadAndRun(async () => (await import("./statement.ts")).showIncomeStatement));
}

function statementOptions(command: Command): Command {
  return minorOption(listOptions(serviceOptions(command)))
    .option("--from <date>", "dated at or after: a day (2026-03-15) or an ISO 8601 time")
    .option("--to <date>", "dated before; up to now unless given")
    .option("--as-of <date>", "up to the end of a day (2026-03-31), or to a time, exclusive")
    .option("--period <label>", "of a period, such as 2026-Q1")
    .option("--by <step>", "a column for each month, quarter or year");
}

function helpOf(name: string, alias: string): string {
  return (
    "\nDebits are positive: a profit is negative. Accounts without a type are apart, as untyped. Exit code 3 when the" +
    `\nbooks do not balance.\n\nExamples:\n  $ ledgerctl ${name} --as-of 2026-03-31` +
    `\n  $ ledgerctl ${alias} --from 2026-01-01 --to 2026-04-01 --by month --csv > ${alias}.csv`
  );
}

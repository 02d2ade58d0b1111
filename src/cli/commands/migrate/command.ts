// `ledgerctl migrate`: the database's schema.
import { Option, type Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineMigrate(program: Command): void {
  databaseOptions(program.command("migrate"))
    .description("apply the migrations that the database lacks, or list them")
    .option("--status", "list migrations and change nothing")
    .addOption(
      new Option(
        "--distribute",
        "then spread the tables over the nodes of a Citus cluster",
      ).conflicts("status"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl migrate\n  $ ledgerctl migrate --status --json",
    )
    .action(loadAndRun(async () => (await import("./migrate.ts")).migrateCommand));
}

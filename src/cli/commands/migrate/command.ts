// `ledgerctl migrate`: the database's schema.
import type { Command } from "commander";
import { databaseOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { MigrateFlags } from "./run.ts";

export function defineMigrate(program: Command): void {
  databaseOptions(program.command("migrate"))
    .description("apply the migrations that the database lacks, or list them")
    .option("--status", "list migrations and change nothing")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl migrate\n  $ ledgerctl migrate --status --json",
    )
    .action((flags: MigrateFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).migrateCommand(flags, environment),
      ),
    );
}

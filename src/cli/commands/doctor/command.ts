// `ledgerctl doctor`: what stands between this machine and the books.
import type { Command } from "commander";
import { eitherOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineDoctor(program: Command): void {
  eitherOptions(program.command("doctor"))
    .description("check configuration, connection, clock, credentials, migrations and postings")
    .addHelpText("after", "\nExample:\n  $ ledgerctl doctor")
    .action(loadAndRun(async () => (await import("./doctor.ts")).doctor));
}

// `ledgerctl doctor`: what stands between this machine and the books.
import type { Command } from "commander";
import { eitherOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { DoctorFlags } from "./run.ts";

export function defineDoctor(program: Command): void {
  eitherOptions(program.command("doctor"))
    .description("check configuration, connection, clock, credentials, migrations and postings")
    .addHelpText("after", "\nExample:\n  $ ledgerctl doctor")
    .action((flags: DoctorFlags) =>
      runCommand(async (environment) => (await import("./run.ts")).doctor(flags, environment)),
    );
}

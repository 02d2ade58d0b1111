// `ledgerctl doctor`: what stands between this machine and the books.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { DoctorFlags } from "./run.ts";

export function defineDoctor(program: Command): void {
  serviceOptions(program.command("doctor"))
    .description("check configuration, connection, clock, credentials, migrations and postings")
    .option("--database-url <url>", "a PostgreSQL database (LEDGERCTL_DATABASE_URL)")
    .option("--data-dir <dir>", "the folder of the embedded database (LEDGERCTL_DATA_DIR)")
    .addHelpText("after", "\nExample:\n  $ ledgerctl doctor")
    .action((flags: DoctorFlags) =>
      runCommand(async (environment) => (await import("./run.ts")).doctor(flags, environment)),
    );
}

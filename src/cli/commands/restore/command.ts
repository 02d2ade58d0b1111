// `ledgerctl restore`: a backup into an empty database.
import type { Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const restoreHelp = `
The database that --database-url or --data-dir names must be empty, or not there yet; otherwise it is exit code
6. FILE is read and checked first, from a pipe into a temporary file: a damaged one is exit code 3, and nothing
is written. The rows are loaded in one transaction, and then audited: a finding is exit code 3.

The database may be another version of PostgreSQL than that of the backup: this is how an embedded database is
upgraded. To serve, ledgerctl needs the master key of the backup's API keys: --with-secrets put it into the backup,
or it was kept elsewhere.

Examples:
  $ ledgerctl restore ledger.backup --data-dir ./restored
  $ cat ledger.backup | ledgerctl restore - --data-dir ./restored-from-a-pipe --no-audit`;

export function defineRestore(program: Command): void {
  databaseOptions(program.command("restore <file>"))
    .description("load a backup from a file, or from stdin (-), into an empty database")
    .option("--no-audit", "do not recompute everything afterwards")
    .addHelpText("after", restoreHelp)
    .action(loadAndRun(async () => (await import("./restore.ts")).restore));
}

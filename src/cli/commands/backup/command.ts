// `ledgerctl backup`: everything in the database, in one file.
import type { Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const backupHelp = `
The backup has everything as it is at one moment; servers go on writing meanwhile. FILE gets its name only when
it is whole and on disk, in place of what had that name before; - writes to stdout. Only its owner can read it.
It is compressed with zstd, or with gzip where Node.js is older than 22.15.

The secrets of API keys are derived from the master key, which is not in the database and not in the backup,
unless --with-secrets asks for it. Keep it in another place: whoever has both can sign as anybody.

Examples:
  $ ledgerctl backup ledger-$(date +%F).backup
  $ ledgerctl backup - > ledger.backup`;

export function defineBackup(program: Command): void {
  databaseOptions(program.command("backup <file>"))
    .description("write everything in the database to a file, or to stdout (-)")
    .option("--with-secrets", "put the master key into the backup, too")
    .addHelpText("after", backupHelp)
    .action(loadAndRun(async () => (await import("./backup.ts")).backup));
}

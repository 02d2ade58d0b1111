// `ledgerctl audit`: the whole database recomputed.
import type { Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const auditHelp = `
All ledgers are audited, unless --ledger names one. Nothing of the books is written, and a server may go
on meanwhile: what is compared is of one moment. Exit code 3 when anything does not match.

Whoever can write the database can make it agree with itself: compare the closes with what was published,
with \`ledgerctl merkle verify --expect\`.

Example:
  $ ledgerctl audit --json | jq '.checks[] | select(.ok | not)'`;

export function defineAudit(program: Command): void {
  databaseOptions(program.command("audit"))
    .description("recompute everything in the database, and compare")
    .option("--ledger <id>", "audit this ledger alone")
    .addHelpText("after", auditHelp)
    .action(loadAndRun(async () => (await import("./audit.ts")).audit));
}

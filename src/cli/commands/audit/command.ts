// `ledgerctl audit`: the whole database recomputed; and the record of administration.
import type { Command } from "commander";
import { databaseOptions, listOptions, pagerOption } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const auditHelp = `
All ledgers are audited, unless --ledger names one. Nothing of the books is written, and a server may go
on meanwhile: what is compared is of one moment. Exit code 3 when anything does not match.

Whoever can write the database can make it agree with itself: compare the closes with what was published,
with \`ledgerctl merkle verify --expect\`.

Example:
  $ ledgerctl audit --json | jq '.checks[] | select(.ok | not)'`;

const logHelp = `
An act is one row that was made or changed: an organization, a key, a ledger or its state, an account, a rule
of an asset, a close. OPERATOR is the user of the operating system, ROLE that of the database. The newest act
comes last. \`ledgerctl audit\` checks that no act was changed and that everything is as the acts left it.

Example:
  $ ledgerctl audit log --limit 10`;

export function defineAudit(program: Command): void {
  const audit = pagerOption(databaseOptions(program.command("audit").enablePositionalOptions()));
  audit
    .description("recompute everything in the database, and compare")
    .option("--ledger <id>", "audit this ledger alone; its id, or its name where only one has it")
    .addHelpText("after", auditHelp)
    .action(loadAndRun(async () => (await import("./audit.ts")).audit));
  listOptions(databaseOptions(audit.command("log")))
    .description("list acts of administration: who did what, and when")
    .option("--limit <n>", "so many of the newest acts (default: 50)")
    .addHelpText("after", logHelp)
    .action(loadAndRun(async () => (await import("./log.ts")).listActs));
}

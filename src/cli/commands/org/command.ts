// `ledgerctl org`: organizations, on the database itself.
import type { Command } from "commander";
import { listOptions, databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineOrg(program: Command): void {
  const org = program.command("org").description("organizations, who own ledgers and keys");
  databaseOptions(org.command("create <name>"))
    .description("make an organization")
    .addHelpText("after", '\nExample:\n  $ ledgerctl org create "Acme GmbH"')
    .action(loadAndRun(async () => (await import("./create.ts")).createOrg));
  listOptions(databaseOptions(org.command("list")))
    .description("list organizations")
    .addHelpText("after", "\nExample:\n  $ ledgerctl org list --json")
    .action(loadAndRun(async () => (await import("./list.ts")).listOrgs));
}

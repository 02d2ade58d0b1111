// `ledgerctl org`: organizations, on the database itself.
import type { Command } from "commander";
import { databaseOptions, type DatabaseFlags } from "../../options.ts";
import { runCommand } from "../../run-command.ts";

export function defineOrg(program: Command): void {
  const org = program.command("org").description("organizations, who own ledgers and keys");
  databaseOptions(org.command("create <name>"))
    .description("make an organization")
    .addHelpText("after", '\nExample:\n  $ ledgerctl org create "Acme GmbH"')
    .action((name: string, flags: DatabaseFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).createOrg(name, flags, environment),
      ),
    );
  databaseOptions(org.command("list"))
    .description("list organizations")
    .addHelpText("after", "\nExample:\n  $ ledgerctl org list --json")
    .action((flags: DatabaseFlags) =>
      runCommand(async (environment) => (await import("./run.ts")).listOrgs(flags, environment)),
    );
}

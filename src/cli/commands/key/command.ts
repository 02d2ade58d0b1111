// `ledgerctl key`: API keys, on the database itself.
import type { Command } from "commander";
import { listOptions, databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineKey(program: Command): void {
  const key = program.command("key").description("API keys of organizations");
  databaseOptions(key.command("create"))
    .description("make a key; its secret is shown this once")
    .requiredOption("--org <id>", "the organization, or its name where only one has it")
    .option("--name <name>", "what the key is for, as `key list` shows it")
    .option(
      "--scope <scope...>",
      "read, wallets:write, entries:write, periods:close or admin (default: all but admin)",
    )
    .option("--expires-in <duration>", "a lifetime such as 12h or 90d (default: none)")
    .addHelpText(
      "after",
      "\nWith --quiet, one line: the key, a space and its secret.\n" +
        `\nExample:\n  $ ledgerctl key create --org "$(ledgerctl org list --quiet | head -n 1)" --name auditor --scope read --expires-in 90d`,
    )
    .action(loadAndRun(async () => (await import("./create.ts")).createKey));
  listOptions(databaseOptions(key.command("list")))
    .description("list keys")
    .addHelpText("after", "\nExample:\n  $ ledgerctl key list")
    .action(loadAndRun(async () => (await import("./list.ts")).listKeys));
  databaseOptions(key.command("revoke <api-key>"))
    .description("revoke a key; it takes hold within 5 seconds")
    .addHelpText(
      "after",
      `\nExample:\n  $ KEY=$(ledgerctl key create --org "$(ledgerctl org list --quiet | head -n 1)" --json | jq -r .apiKey)` +
        '\n  $ ledgerctl key revoke "$KEY"',
    )
    .action(loadAndRun(async () => (await import("./revoke.ts")).revokeKey));
}

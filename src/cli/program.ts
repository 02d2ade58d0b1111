// The tree of commands. Each command's work is loaded only when it runs.
import { Command, type Help } from "commander";
import { defineMigrate } from "./commands/migrate/command.ts";
import { defineOrg } from "./commands/org/command.ts";
import { defineKey } from "./commands/key/command.ts";
import { defineLedger } from "./commands/ledger/command.ts";
import { defineAccount } from "./commands/account/command.ts";
import { defineWallet } from "./commands/wallet/command.ts";
import { defineAsset } from "./commands/asset/command.ts";
import { defineAudit } from "./commands/audit/command.ts";
import { defineBackup } from "./commands/backup/command.ts";
import { defineBench } from "./commands/bench/command.ts";
import { defineSign } from "./commands/sign/command.ts";
import { defineRequest } from "./commands/request/command.ts";
import { defineDoctor } from "./commands/doctor/command.ts";
import { defineEntry } from "./commands/entry/command.ts";
import { defineBalance } from "./commands/balance/command.ts";
import { defineTrialBalance } from "./commands/trial-balance/command.ts";
import { definePeriod } from "./commands/period/command.ts";
import { defineBundle } from "./commands/bundle/command.ts";
import { defineExport } from "./commands/export/command.ts";
import { defineMerkle } from "./commands/merkle/command.ts";
import { defineSeed } from "./commands/seed/command.ts";
import { defineRestore } from "./commands/restore/command.ts";
import { defineServe } from "./commands/serve/command.ts";
import { defineTop } from "./commands/top/command.ts";
import { defineProfile } from "./commands/profile/command.ts";
import { defineConfig } from "./commands/config/command.ts";
import { defineCompletion } from "./commands/completion/command.ts";
import { defineHelp } from "./commands/help/command.ts";
import { printableLines } from "./terminal/printable.ts";
import { commandsOf, pathOf } from "./definition/command-tree.ts";
import { sharedOptionGroups } from "./definition/options.ts";
import { programVersion } from "./version.ts";

export function createProgram(): Command {
  const program = new Command("ledgerctl")
    .description("A double-entry ledger service: serve it, keep its books, check them.")
    .version(programVersion(), "--version", "print the version")
    .usage("<command> [options]")
    // What stands behind a command is that command's: `audit` and `audit log` have options of one name.
    .enablePositionalOptions()
    .addHelpText(
      "after",
      "\n`ledgerctl help` lists topics, `ledgerctl COMMAND --help` has examples.",
    );
  program.commandsGroup("Server and administration:");
  defineServe(program);
  defineMigrate(program);
  defineSeed(program);
  defineOrg(program);
  defineKey(program);
  defineLedger(program);
  defineAccount(program);
  defineAsset(program);
  defineAudit(program);
  defineBackup(program);
  defineRestore(program);
  defineBench(program);
  defineTop(program);
  defineDoctor(program);
  program.commandsGroup("Books:");
  defineEntry(program);
  defineBalance(program);
  defineTrialBalance(program);
  definePeriod(program);
  defineExport(program);
  program.commandsGroup("Wallets:");
  defineWallet(program);
  program.commandsGroup("Proof:");
  defineBundle(program);
  defineMerkle(program);
  program.commandsGroup("Requests:");
  defineSign(program);
  defineRequest(program);
  program.commandsGroup("Configuration and help:");
  defineProfile(program);
  defineConfig(program);
  defineCompletion(program);
  defineHelp(program);
  for (const command of commandsOf(program)) complete(command);
  return program;
}

/** What every command has: help, messages in one style, and throwing instead of exiting: exit codes are ours. */
function complete(command: Command): void {
  const path = pathOf(command);
  command
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .exitOverride()
    .configureHelp({ sortSubcommands: false, groupItems: ownFirst })
    .configureOutput({
      writeErr: (text) => process.stderr.write(printableLines(text)),
      outputError: (text, write) => {
        write(inOurStyle(text, path));
      },
    });
}

/** From `error: unknown option '--lin'\n(Did you mean --line?)` to the style of all our messages. */
function inOurStyle(text: string, path: string): string {
  const [message = "", ...more] = text.trimEnd().split("\n");
  const suggestion = more.map((line) => `  ${line.replace(/^\((.*)\)$/, "$1")}\n`).join("");
  return `ledgerctl: ${message.replace(/^error: /, "")}\n${suggestion}  \`${path} --help\` tells more.\n`;
}

/** A command's own options before those that it shares with others. */
const ownFirst: Help["groupItems"] = (all, visible, groupOf) => {
  const rank = (group: string) => sharedOptionGroups.findIndex((shared) => shared === group);
  const groups = [...new Set([...all, ...visible].map(groupOf))].sort((a, b) => rank(a) - rank(b));
  return new Map(
    groups.map((group) => [group, visible.filter((item) => groupOf(item) === group)] as const),
  );
};

// The tree of commands, and running one of them. Each command's work is loaded only when it runs.
import { Command, CommanderError, Help } from "commander";
import { isColorRefused } from "../config.ts";
import { defineMigrate } from "./commands/migrate/command.ts";
import { defineOrg } from "./commands/org/command.ts";
import { defineKey } from "./commands/key/command.ts";
import { defineLedger } from "./commands/ledger/command.ts";
import { defineAccount } from "./commands/account/command.ts";
import { defineWallet } from "./commands/wallet/command.ts";
import { defineAsset } from "./commands/asset/command.ts";
import { defineDelivery } from "./commands/delivery/command.ts";
import { defineAudit } from "./commands/audit/command.ts";
import { defineBackup } from "./commands/backup/command.ts";
import { defineBench } from "./commands/bench/command.ts";
import { defineSign } from "./commands/sign/command.ts";
import { defineRequest } from "./commands/request/command.ts";
import { defineDoctor } from "./commands/doctor/command.ts";
import { defineEntry } from "./commands/entry/command.ts";
import { defineBalance } from "./commands/balance/command.ts";
import { defineTrialBalance } from "./commands/trial-balance/command.ts";
import { defineRegister } from "./commands/register/command.ts";
import { defineBalanceSheet, defineIncomeStatement } from "./commands/statement/command.ts";
import { definePeriod } from "./commands/period/command.ts";
import { defineBundle } from "./commands/bundle/command.ts";
import { defineExport } from "./commands/export/command.ts";
import { defineLog } from "./commands/log/command.ts";
import { defineMerkle } from "./commands/merkle/command.ts";
import { defineSeed } from "./commands/seed/command.ts";
import { defineRestore } from "./commands/restore/command.ts";
import { defineServe } from "./commands/serve/command.ts";
import { defineTop } from "./commands/top/command.ts";
import { defineUi } from "./commands/ui/command.ts";
import { defineProfile } from "./commands/profile/command.ts";
import { defineConfig } from "./commands/config/command.ts";
import { defineCompletion } from "./commands/completion/command.ts";
import { defineHelp } from "./commands/help/command.ts";
import { foldHelp } from "./terminal/fold-help.ts";
import { foldRemark } from "./terminal/fold-lines.ts";
import { printableLines } from "./terminal/printable.ts";
import { terminalWidth } from "./terminal/terminal-width.ts";
import { commandsOf, pathOf } from "./definition/command-tree.ts";
import { sharedOptionGroups } from "./definition/options.ts";
import {
  CommandFailure,
  exitCodes,
  failureText,
  usageFailure,
  withColoredHead,
} from "./failure.ts";
import { fileFailureReason } from "./input/file-failure.ts";
import { programVersion } from "./version.ts";

type Define = (program: Command) => void;

/** All commands by the first word of each, in the order of the help. */
const groups: Readonly<Record<string, Readonly<Record<string, Define>>>> = {
  "Server and administration:": {
    serve: defineServe,
    migrate: defineMigrate,
    seed: defineSeed,
    org: defineOrg,
    key: defineKey,
    ledger: defineLedger,
    account: defineAccount,
    asset: defineAsset,
    delivery: defineDelivery,
    audit: defineAudit,
    backup: defineBackup,
    restore: defineRestore,
    bench: defineBench,
    top: defineTop,
    doctor: defineDoctor,
  },
  "Books:": {
    entry: defineEntry,
    balance: defineBalance,
    "trial-balance": defineTrialBalance,
    register: defineRegister,
    "balance-sheet": defineBalanceSheet,
    "income-statement": defineIncomeStatement,
    period: definePeriod,
    export: defineExport,
    ui: defineUi,
  },
  "Wallets:": { wallet: defineWallet },
  "Proof:": { bundle: defineBundle, merkle: defineMerkle, log: defineLog },
  "Requests:": { sign: defineSign, request: defineRequest },
  "Configuration and help:": {
    profile: defineProfile,
    config: defineConfig,
    completion: defineCompletion,
    help: defineHelp,
  },
};

/** Short names of commands, which their definitions have, too. */
const aliases: Readonly<Partial<Record<string, string>>> = {
  bs: "balance-sheet",
  is: "income-statement",
};

/** These look at the whole tree; what completion asks in secret, `__complete`, is defined with it. */
const needWholeTree = ["completion", "help"];

/**
 * The tree of commands; with a command line no more of it than this one needs, since a program that starts defines it
 * anew each time.
 */
export function createProgram(args: readonly string[] = []): Command {
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
  const only = findDefinition(args[0]);
  for (const [heading, defines] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const define of Object.values(defines)) {
      if (only === null || define === only) define(program);
    }
  }
  const isJson = asksForJson(args);
  const isColored =
    process.stderr.isTTY && !isColorRefused() && !optionsOf(args).includes("--no-color");
  for (const command of commandsOf(program)) complete(command, { isJson, isColored });
  return program;
}

/** What defines the command that a first word names; null where it names none, or one that needs the whole tree. */
function findDefinition(firstWord: string | undefined): Define | null {
  if (firstWord === undefined || needWholeTree.includes(firstWord)) return null;
  const all = Object.values(groups).flatMap((defines) => Object.entries(defines));
  const name = aliases[firstWord] ?? firstWord;
  return all.find(([known]) => known === name)?.[1] ?? null;
}

/** Runs a command line, which is without the program's name. How it ended is in process.exitCode. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram(args).parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

/** Says why what a command line prints can't be written. */
export function tellOfStdout(args: readonly string[], error: unknown): void {
  const message = `stdout can't be written: ${fileFailureReason(error)}`;
  const failure = new CommandFailure(message, exitCodes.failed, error);
  process.stderr.write(failureText(failure, asksForJson(args)));
}

/** Whether a command line wants JSON: also one that commander can't make sense of, whose failure is an object, too. */
function asksForJson(args: readonly string[]): boolean {
  return optionsOf(args).some((arg) => /^--(json$|jq(=|$))/.test(arg));
}

/** What of a command line may be an option. */
function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

/** How messages about a command line look. */
interface MessageStyle {
  readonly isJson: boolean;
  readonly isColored: boolean;
}

/** What every command has: help, messages in one style, and throwing instead of exiting: exit codes are ours. */
function complete(command: Command, { isJson, isColored }: MessageStyle): void {
  const path = pathOf(command);
  command
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .exitOverride()
    .configureHelp({
      sortSubcommands: false,
      groupItems: ownFirst,
      optionDescription: describeOption,
    })
    .configureOutput({
      writeOut: (text) => {
        process.stdout.write(foldHelp(text, terminalWidth(process.stdout)));
      },
      writeErr: (text) => {
        const message = text.trim().replace(/^ledgerctl: /, "");
        process.stderr.write(
          isJson
            ? failureText(usageFailure(message), true)
            : withColoredHead(foldRemark(printableLines(text)), isColored),
        );
      },
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

/** As the reference in docs/cli.md has it. */
const describeOption: Help["optionDescription"] = (option) => {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text}; required` : text;
};

/** A command's own options before those that it shares with others. */
const ownFirst: Help["groupItems"] = (all, visible, groupOf) => {
  const rank = (group: string) => sharedOptionGroups.findIndex((shared) => shared === group);
  const groups = [...new Set([...all, ...visible].map(groupOf))].sort((a, b) => rank(a) - rank(b));
  return new Map(
    groups.map((group) => [group, visible.filter((item) => groupOf(item) === group)] as const),
  );
};

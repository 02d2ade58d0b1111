// The command line: the tree of commands. Each command's work is loaded only when it runs.
import { Command, CommanderError } from "commander";
import { defineMigrate } from "./commands/migrate/command.ts";
import { defineOrg } from "./commands/org/command.ts";
import { defineKey } from "./commands/key/command.ts";
import { defineLedger } from "./commands/ledger/command.ts";
import { defineAccount } from "./commands/account/command.ts";
import { defineWallet } from "./commands/wallet/command.ts";
import { defineAsset } from "./commands/asset/command.ts";
import { defineAudit } from "./commands/audit/command.ts";
import { defineBench } from "./commands/bench/command.ts";
import { defineSign } from "./commands/sign/command.ts";
import { defineRequest } from "./commands/request/command.ts";
import { defineDoctor } from "./commands/doctor/command.ts";
import { defineEntry } from "./commands/entry/command.ts";
import { defineBalance } from "./commands/balance/command.ts";
import { defineTrialBalance } from "./commands/trial-balance/command.ts";
import { definePeriod } from "./commands/period/command.ts";
import { defineBundle } from "./commands/bundle/command.ts";
import { defineMerkle } from "./commands/merkle/command.ts";
import { defineServe } from "./commands/serve/command.ts";
import { defineTop } from "./commands/top/command.ts";
import { exitCodes } from "./failure.ts";
import { printableLines } from "./printable.ts";
import { programVersion } from "./version.ts";

function createProgram(): Command {
  const program = new Command("ledgerctl")
    .description("A double-entry ledger service: serve it, keep its books, check them.")
    .version(programVersion(), "--version", "print the version")
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false })
    .configureOutput({ writeErr: (text) => process.stderr.write(printableLines(text)) });
  defineServe(program);
  defineMigrate(program);
  defineOrg(program);
  defineKey(program);
  defineLedger(program);
  defineAccount(program);
  defineAsset(program);
  defineEntry(program);
  defineBalance(program);
  defineTrialBalance(program);
  defineWallet(program);
  definePeriod(program);
  defineBundle(program);
  defineMerkle(program);
  defineSign(program);
  defineRequest(program);
  defineAudit(program);
  defineBench(program);
  defineTop(program);
  defineDoctor(program);
  return program;
}

/** Makes every command of the tree throw instead of exiting, so that exit codes are ours. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const subcommand of command.commands) throwInsteadOfExit(subcommand);
}

async function main(): Promise<void> {
  const program = createProgram();
  throwInsteadOfExit(program);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

// Whoever reads our output may stop reading at any time (`ledgerctl entry list | head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? exitCodes.done : exitCodes.failed);
});

await main();

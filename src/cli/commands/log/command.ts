// `ledgerctl log`: the ledger as a transparency log. What the commands do is in a file each beside this one.
import type { Command } from "commander";
import { outputOptions, policyOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineLog(program: Command): void {
  const log = program
    .command("log")
    .description("signed checkpoints and proofs of a ledger's logs");
  defineVerify(log);
}

function defineVerify(log: Command): void {
  policyOptions(outputOptions(log.command("verify <file...>")))
    .description("verify checkpoints and proofs of logs, offline")
    .addHelpText("after", verifyHelp)
    .action(loadAndRun(async () => (await import("./verify.ts")).verifyLogFiles));
}

const verifyHelp = `
A file is a checkpoint (C2SP tlog-checkpoint) or a proof (C2SP tlog-proof), - is stdin. Nothing is asked of anybody: no
connection is made and no configuration is read. Exit code 3 where a file does not hold, 1 where one can't be read.

Example:
  $ ledgerctl log verify entry.tlog-proof --policy ledger.policy`;

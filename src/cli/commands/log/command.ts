// `ledgerctl log`: the ledger as a transparency log. What the commands do is in a file each beside this one.
import type { Command } from "commander";
import { outputOptions } from "../../definition/options.ts";
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

/** Whom a command trusts. */
function policyOptions(command: Command): Command {
  return command
    .option("--policy <file>", "the logs and witnesses that are trusted, a C2SP tlog-policy")
    .option(
      "--verifier-key <vkey>",
      "the verifier key of a log that is trusted; repeat it",
      collect,
    )
    .option(
      "--witness-key <vkey>",
      "the key of a witness that must have cosigned; repeat it",
      collect,
    );
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

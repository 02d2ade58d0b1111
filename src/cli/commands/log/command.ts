// `ledgerctl log`: the ledger as a transparency log. What the commands do is in a file each beside this one.
import type { Command } from "commander";
import {
  databaseOptions,
  minorOption,
  outputOptions,
  policyOptions,
  serviceOptions,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineLog(program: Command): void {
  const log = program
    .command("log")
    .description("signed checkpoints and proofs of a ledger's logs");
  defineReading(log);
  defineVerify(log);
  defineWatch(log);
  defineHalted(log);
}

/** What is done on the database about logs that sign nothing. */
function defineHalted(log: Command): void {
  const options = (verb: Command) =>
    databaseOptions(verb)
      .option("--ledger <id>", "the ledger, or its name where only one has it")
      .option("--all", "all ledgers, and both logs unless LOG is given")
      .option("--yes", "do not ask");
  options(log.command("resume [log]"))
    .description("let a halted log go on: nothing longer than what it has was ever shown")
    .addHelpText(
      "after",
      "\nEach witness with a URL in the policy that LEDGERCTL_LOG_POLICY names is asked first. The log stays halted where" +
        "\none has seen more, or another tree, or can't be asked." +
        "\n\nExample:\n  $ ledgerctl log resume --all --yes",
    )
    .action(loadAndRun(async () => (await import("./resume.ts")).resumeLogs));
  options(log.command("restart [log]"))
    .description("begin a log anew, under its next origin")
    .addHelpText("after", '\nExample:\n  $ ledgerctl log restart journal --ledger "$LEDGER" --yes')
    .action(loadAndRun(async () => (await import("./restart.ts")).restartLogs));
}

function defineReading(log: Command): void {
  serviceOptions(log.command("key [log]"))
    .description("print the verifier keys of both logs, or of one: journal or closes")
    .option(
      "--policy",
      "print a C2SP tlog-policy with the keys, the server's witnesses and its quorum",
    )
    .addHelpText(
      "after",
      `\n${keyHelp}\n\nExamples:\n  $ ledgerctl log key` +
        "\n  $ ledgerctl log key --policy > ledger.policy",
    )
    .action(loadAndRun(async () => (await import("./key.ts")).printKeys));
  serviceOptions(log.command("show [log]"))
    .description("show a log: its newest checkpoint, and whether it is halted")
    .addHelpText("after", "\nExample:\n  $ ledgerctl log show closes")
    .action(loadAndRun(async () => (await import("./show.ts")).showLog));
  serviceOptions(log.command("checkpoint [log]"))
    .description("print a log's newest checkpoint, a signed note")
    .option("--size <n>", "the one of so many leaves")
    .option("--cosigned", "the newest that meets the quorum of the server's policy")
    .option("--origin <origin>", "under an earlier origin, before the log was begun anew")
    .option("--out <file>", "write it to a file instead of stdout")
    .addHelpText("after", "\nExample:\n  $ ledgerctl log checkpoint --out journal.checkpoint")
    .action(loadAndRun(async () => (await import("./checkpoint.ts")).printCheckpoint));
  serviceOptions(log.command("prove [entry-id]"))
    .description(
      "make the proof that an entry is in the journal's log, or a close in that of the closes",
    )
    .option("--close <period>", "a closed period, in place of an entry")
    .option("--size <n>", "by the checkpoint of so many leaves; the newest unless told")
    .option("--out <file>", "write the proof to a file instead of stdout")
    .addHelpText("after", proveHelp)
    .action(loadAndRun(async () => (await import("./prove.ts")).proveRecord));
}

const keyHelp = `What the server says of its keys proves nothing: compare them with what its operator published.`;

const proveHelp = `
The proof has the record in it: one file is all that \`ledgerctl log verify\` needs. A record that is newer than the
newest checkpoint is waited for for 3 seconds.

Examples:
  $ ID=$(ledgerctl entry list --period 2026-03 --limit 1 --quiet)
  $ ledgerctl log prove "$ID" --out entry.tlog-proof
  $ ledgerctl log prove --close 2026-03 --out close.tlog-proof`;

function defineVerify(log: Command): void {
  minorOption(policyOptions(outputOptions(log.command("verify <file...>"))))
    .description("verify checkpoints and proofs of logs, offline")
    .addHelpText("after", verifyHelp)
    .action(loadAndRun(async () => (await import("./verify.ts")).verifyLogFiles));
}

const verifyHelp = `
A file is a checkpoint (C2SP tlog-checkpoint) or a proof (C2SP tlog-proof), - is stdin. Nothing is asked of anybody: no
connection is made and no configuration is read. Exit code 3 where a file does not hold, 1 where one can't be read.

Example:
  $ ledgerctl log verify entry.tlog-proof --policy ledger.policy`;

function defineWatch(log: Command): void {
  policyOptions(serviceOptions(log.command("watch [log]")))
    .description("hold a log to what it showed before: signatures, quorum and consistency")
    .requiredOption("--state <file>", "the last good checkpoint, which is kept here")
    .option("--once", "check once, and end")
    .option("--interval <time>", "between two checks", "60s")
    .addHelpText("after", watchHelp)
    .action(loadAndRun(async () => (await import("./watch.ts")).watchLog));
}

const watchHelp = `
The newest checkpoint, with witnesses in the policy the newest that enough of them cosigned, has to begin with the one in
the state file, and is then kept there. Where the log forked or shrank, or a signature does not hold, the exit code is 3:
both checkpoints are in FILE.conflict-TIME then, and the state file stays as it was. Without --policy and
--verifier-key, the key that the server says first is trusted, and said.

Examples:
  $ ledgerctl log key --policy > ledger.policy
  $ ledgerctl log watch --policy ledger.policy --state journal.state --once
  $ ledgerctl log watch closes --policy ledger.policy --state closes.state --once --quiet`;

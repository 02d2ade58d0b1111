// `ledgerctl merkle`: recomputing roots and checking proofs. What the commands do is in files beside this one.
import type { Command } from "commander";
import {
  collect,
  minorOption,
  outputOptions,
  policyOptions,
  serviceOptions,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const sourceHelp = `
With --bundle nothing is asked of anybody: no connection is made and no configuration is read.
With --period the entries are read page by page from the service, and hashed here.`;

const verifyHelp = `
A bundle that is named without --bundle is the same as one with it. Several are verified each by itself and as a chain, in
the order of their numbers: each close has to name the one before, and to begin with its closings. --expect and --proof
name any of them; a close that is vouched for so vouches for those before it, as long as none is missing. With --proof,
--policy or --verifier-key say whose signature is trusted.
${sourceHelp}
Exit code 3 when anything does not match.

Examples:
  $ ledgerctl merkle verify --bundle 2026-03.ndjson --expect "$PUBLISHED"
  $ ledgerctl merkle verify 2026-*.ndjson
  $ ledgerctl merkle verify --period 2026-03`;

export function defineMerkle(program: Command): void {
  const merkle = program.command("merkle").description("roots and proofs of closed periods");
  sourceOptions(merkle.command("root"))
    .description("recompute the root of a close from its entries, and print it")
    .addHelpText(
      "after",
      `${sourceHelp}\n\nExample:\n  $ ledgerctl merkle root --bundle 2026-03.ndjson`,
    )
    .action(loadAndRun(async () => (await import("./root.ts")).printRoot));
  const verify = sourceOptions(merkle.command("verify [bundle...]"))
    .option("--expect <hash>", "a merkleRoot or closeHash that was published; repeat it", collect)
    .option("--proof <file>", "the tlog-proof of a close, to be trusted; repeat it", collect);
  minorOption(policyOptions(verify))
    .description("recompute roots, trial balances and close hashes, and compare")
    .addHelpText("after", verifyHelp)
    .action(loadAndRun(async () => (await import("./verify.ts")).verifyClose));
  serviceOptions(merkle.command("prove <entry-id>"))
    .description("make the proof that an entry is in a close")
    .requiredOption("--period <label>", "the closed period")
    .option("--out <file>", "write the proof to a file instead of stdout")
    .addHelpText(
      "after",
      "\nExample:\n  $ ID=$(ledgerctl entry list --period 2026-03 --limit 1 --quiet)" +
        '\n  $ ledgerctl merkle prove "$ID" --period 2026-03 --out proof.json',
    )
    .action(loadAndRun(async () => (await import("./prove.ts")).proveEntry));
  minorOption(outputOptions(merkle.command("check <file>")))
    .description("check a proof, offline")
    .option("--root <hash>", "the merkleRoot or closeHash that was published")
    .addHelpText(
      "after",
      "\nExit code 3 when anything does not match.\n\nExample:" +
        '\n  $ ledgerctl merkle check proof.json --root "$PUBLISHED"',
    )
    .action(loadAndRun(async () => (await import("./check.ts")).checkProofFile));
}

function sourceOptions(command: Command): Command {
  return serviceOptions(command)
    .option("--period <label>", "a closed period, whose entries the service lists")
    .option("--bundle <file>", "a bundle, or - for stdin", collect);
}

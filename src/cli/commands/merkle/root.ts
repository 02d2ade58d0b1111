// `merkle root`: the root of a close, recomputed.
import type { Environment } from "../../../config.ts";
import { CommandFailure, exitCodes, type ExitCode } from "../../failure.ts";
import { Output } from "../../terminal/output.ts";
import { checkSource, type VerifyFlags } from "./check-close.ts";

export async function printRoot(flags: VerifyFlags, environment: Environment): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const { merkleRoot, ok, findings } = await checkSource(flags, environment, null);
  if (!ok) {
    const [first] = findings;
    throw new CommandFailure(
      `the close does not match its entries: ${first?.where ?? ""} ${first?.what ?? ""}`,
      exitCodes.verificationFailed,
    );
  }
  output.result({ merkleRoot }, () => merkleRoot);
  return exitCodes.done;
}

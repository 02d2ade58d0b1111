// `merkle root`: the root of a close, recomputed.
import type { Environment } from "../../../config.ts";
import { CommandFailure, exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { checkSource } from "./check-close.ts";

export interface RootFlags extends ServiceFlags {
  period?: string;
  bundle?: readonly string[];
}

export async function printRoot(
  { bundle: bundles = [], ...flags }: RootFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const [bundle, ...more] = bundles;
  if (more.length > 0) throw usageFailure("--bundle is given more than once: a root is of one");
  const source = bundle === undefined ? flags : { ...flags, bundle };
  const { merkleRoot, ok, findings } = await checkSource(source, environment, null);
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

// `merkle verify`: a close recomputed, and compared with its record and with what was published.
import type { Environment } from "../../../config.ts";
import { type ExitCode } from "../../failure.ts";
import { Output } from "../../terminal/output.ts";
import { readHash, tellVerdict } from "./verdict.ts";
import { checkSource, type VerifyFlags } from "./check-close.ts";

export async function verifyClose(flags: VerifyFlags, environment: Environment): Promise<ExitCode> {
  const expected = readHash("--expect", flags.expect);
  const output = new Output(flags, environment.isColorRefused);
  return tellVerdict(await checkSource(flags, environment, expected), expected, output);
}

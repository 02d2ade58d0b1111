// `merkle check`: a proof against what was published. Offline.
import { buffer } from "node:stream/consumers";
import type { Environment } from "../../../config.ts";
import { checkProof } from "../../../verify/proof.ts";
import type { ExitCode } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { checkFile } from "./check-file.ts";
import { readHash, tellVerdict } from "./verdict.ts";

export interface CheckFlags extends OutputFlags {
  root?: string;
}

export async function checkProofFile(
  file: string,
  flags: CheckFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const expected = flags.root === undefined ? null : readHash("--root", flags.root);
  const verdict = await checkFile(file, "proof", async (chunks) =>
    checkProof((await buffer(chunks)).toString("utf8"), expected),
  );
  return tellVerdict(verdict, { figures: expected === null ? [] : [expected] }, output);
}

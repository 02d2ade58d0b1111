// `merkle check`: a proof against what was published. Offline.
import { readFile } from "node:fs/promises";
import type { Environment } from "../../../config.ts";
import { MalformedFile } from "../../../verify/documents.ts";
import { checkProof } from "../../../verify/proof.ts";
import { CommandFailure, exitCodes, type ExitCode } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { fileFailureReason } from "../../input/file-failure.ts";
import { damaged, readHash, tellVerdict } from "./verdict.ts";

export interface CheckFlags extends OutputFlags {
  root?: string;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
  } catch (error) {
    throw new CommandFailure(
      `${file} can't be read: ${fileFailureReason(error)}`,
      exitCodes.failed,
    );
  }
}

export async function checkFile(
  file: string,
  flags: CheckFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const expected = readHash("--root", flags.root);
  const text = await readText(file);
  try {
    return tellVerdict(checkProof(text, expected), expected, output);
  } catch (error) {
    if (error instanceof MalformedFile) throw damaged(`${file} is no proof: ${error.message}`);
    throw error;
  }
}

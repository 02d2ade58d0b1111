// `--jq` where stdout has a file, and no JSON of the command's own.
import type { OutputFlags } from "../definition/options.ts";
import { usageFailure } from "../failure.ts";

/** A usage failure where a file would go to stdout past the expression. */
export function refuseJqOfFile({ jq }: OutputFlags, isOnStdout: boolean): void {
  if (jq === undefined || !isOnStdout) return;
  throw usageFailure(
    "--jq is for results in JSON, and stdout would have a file; name one to write it to",
  );
}

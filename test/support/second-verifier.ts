// The verifier in Python, run as an auditor runs it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../scripts/verify_close.py", import.meta.url));

/** Runs it on a file and gives its exit code and output; null where there is no Python. */
export function runSecondVerifier(
  file: string,
  ...more: readonly string[]
): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("python3", [script, file, ...more], {
    encoding: "utf8",
  });
  return { code: status, output: stdout + stderr };
}

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

/** Its exit codes for files with what is expected of each, all in one process. */
export function runSecondVerifierOnEach(files: readonly (readonly [string, string])[]): number[] {
  const each = `
import json, runpy, sys
main = runpy.run_path(sys.argv[1])["main"]
codes = []
for file, expected in json.load(sys.stdin):
    sys.argv = ["verify_close.py", file, "--expect", expected]
    codes.append(main())
print(json.dumps(codes))`;
  const input = JSON.stringify(files);
  const { stdout } = spawnSync("python3", ["-c", each, script], { encoding: "utf8", input });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as number[];
}

// The verifier in Python, run as an auditor runs it, or on many cases at once.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { python } from "./python.ts";
import type { SignedCase, SignedVerdict } from "./signed-cases.ts";

const script = fileURLToPath(new URL("../../scripts/verify_close.py", import.meta.url));
const driver = fileURLToPath(new URL("second_verifier_cases.py", import.meta.url));

/** Runs it on a file, or with other arguments, and gives its exit code and output; null where there is no Python. */
export function runSecondVerifier(...args: readonly string[]): {
  code: number | null;
  output: string;
} {
  const { status, stdout, stderr } = spawnSync(python, [script, ...args], { encoding: "utf8" });
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
  const { stdout } = spawnSync(python, ["-c", each, script], { encoding: "utf8", input });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as number[];
}

/** The verdicts of the verifier in Python, all in one process. */
export function secondVerdicts(cases: readonly SignedCase[]): SignedVerdict[] {
  const base64 = (bytes?: Uint8Array) => bytes && Buffer.from(bytes).toString("base64");
  const input = cases.map((each) =>
    JSON.stringify({
      verifierKeys: [],
      witnessKeys: [],
      withRecord: false,
      ...each,
      data: base64(each.data),
      policy: base64(each.policy),
      signature: base64(each.signature),
      publicKey: base64(each.publicKey),
    }),
  );
  const { stdout, stderr } = spawnSync(python, [driver, script], {
    encoding: "utf8",
    input: `${input.join("\n")}\n`,
    maxBuffer: 2 ** 28,
  });
  const verdicts = stdout.split("\n").slice(0, -1);
  if (verdicts.length !== cases.length) throw new Error(`the second verifier failed: ${stderr}`);
  return verdicts.map((verdict) => JSON.parse(verdict) as SignedVerdict);
}

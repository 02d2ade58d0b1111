// The built binary run as a user runs it: arguments and stdin in, exit code and both outputs back.
import { spawn, type ChildProcess } from "node:child_process";
import { programCommand } from "./server-process.ts";

export interface CliResult {
  /** null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** The whole environment beside PATH: what a developer has set must not leak in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Given to stdin, which is then closed; without it stdin is empty. */
  readonly input?: string | Buffer;
}

export async function runCli(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const { child, result } = startCli(args, options);
  child.stdin?.end(options.input ?? "");
  return result;
}

/** Starts the binary with its stdin open, for those who want to write to it or to signal it. */
export function startCli(
  args: readonly string[],
  options: Pick<CliOptions, "env"> = {},
): { child: ChildProcess; result: Promise<CliResult> } {
  const [file, ...first] = programCommand;
  const child = spawn(file, [...first, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A command that ends without reading its stdin is no failure of the test.
  child.stdin.on("error", () => undefined);
  const result = new Promise<CliResult>((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  return { child, result };
}

/** The documents of NDJSON. */
export function documents<Document>(text: string): Document[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Document);
}

// A command line run by this process, from the sources: what it prints and how it ends, without a start of the program.
// That the built program starts, reads its stdin and ends, test/acceptance shows for each command.
import { vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import type { CliResult } from "./cli.ts";

let isRunning = false;

/** The same result as runCli, in the environment given and no other. One at a time. */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  if (isRunning) throw new Error("one command at a time: they share this process's output");
  isRunning = true;
  const written = { stdout: "", stderr: "" };
  const taken = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  const before = { env: process.env, exitCode: process.exitCode };
  // Nobody's own configuration: HOME is asked of the system, not of the environment.
  process.env = { LEDGERCTL_CONFIG: "/nonexistent/config.json", ...env };
  try {
    await runProgram(args);
    return { code: Number(process.exitCode ?? 0), ...written };
  } finally {
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const write of taken) write.mockRestore();
    isRunning = false;
  }
}

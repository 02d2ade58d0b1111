// The built binary on a terminal: Python's pty makes one, since Node can't.
import { spawn } from "node:child_process";
import { python } from "./python.ts";
import { programCommand } from "./server-process.ts";

const bridge = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;

/** Starts a command on a terminal of its own. Of Python it takes nothing that is installed. */
export function spawnOnTerminal(
  command: readonly string[],
  options: { env: Readonly<Record<string, string>>; cwd?: string },
) {
  return spawn(python, ["-ISc", bridge, ...command], {
    ...options,
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/**
 * What a terminal was sent, without the line that tells after a second what is under way: it comes between other lines
 * where the machine is slow, is overwritten, and ends blank.
 */
export function withoutProgress(output: string): string {
  return output.replaceAll(/(?:\r[^\r\n]+)*\r +\r/g, "");
}

/**
 * Runs a command, types an answer once it has asked, and resolves with all that the terminal showed and the
 * exit code. A command that ends without a question is not waited for.
 */
export function runOnTerminal(
  args: readonly string[],
  {
    env,
    answer,
    question = "[y/N]",
  }: { env: Readonly<Record<string, string>>; answer: string; question?: string },
): Promise<{ code: number | null; shown: string }> {
  const child = spawnOnTerminal([...programCommand, ...args], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ...env },
  });
  child.stdin.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    let shown = "";
    let isAnswered = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      if (isAnswered || !shown.includes(question)) return;
      isAnswered = true;
      child.stdin.write(answer);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, shown: shown.replaceAll("\r\n", "\n") });
    });
  });
}

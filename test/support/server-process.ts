// The built binary serving in a process of its own.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A single executable that is tested in place of the built program. */
export const executable = process.env["LEDGERCTL_TEST_PROGRAM"] || undefined;

export const binaryPath =
  executable ?? fileURLToPath(new URL("../../bin/ledgerctl.js", import.meta.url));

/** The Node that runs the built program: LEDGERCTL_TEST_NODE's, or the one that runs the tests. */
export const nodePath = process.env["LEDGERCTL_TEST_NODE"] ?? process.execPath;

/** What stands before the arguments of a command. */
export const programCommand: readonly [string, ...string[]] =
  executable === undefined ? [nodePath, binaryPath] : [executable];

/** The built program starts itself with the `node` that PATH finds first. */
const searchPath = [dirname(nodePath), process.env["PATH"] ?? ""].join(delimiter);

/** Without the settings of tests, which the program has none of. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("LEDGERCTL_TEST_")),
);

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The last 4,000 characters of what it wrote to stderr so far: its log, and Node's warnings. */
  stderr(): string;
  /** From `--bootstrap`; empty where it made nothing. */
  readonly made: {
    organizationId?: string;
    ledgerId?: string;
    apiKey?: string;
    apiSecret?: string;
  };
  /** Sends a signal and resolves with the exit code (null when the signal ended it). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `serve --json` with more arguments and resolves when it is ready; fails when it ends before. */
export async function startServerProcess(options: {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}): Promise<ServerProcess> {
  const child = spawn(binaryPath, ["serve", "--json", ...options.args], {
    env: { ...inherited, PATH: searchPath, LEDGERCTL_LOG_LEVEL: "warn", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)));
  const facts: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    Object.assign(facts, JSON.parse(line));
    if (facts["event"] === "ready") break;
  }
  const { url } = facts;
  if (url === undefined) throw new Error(`the server ended before it was ready: ${stderr}`);
  return {
    url,
    child,
    stderr: () => stderr,
    made: facts,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}

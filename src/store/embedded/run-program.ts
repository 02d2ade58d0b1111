// Starting PostgreSQL's programs: as the right user, in a directory it can enter, with none of our secrets.
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import type { Account } from "./account.ts";

const outputCharsMax = 64 * 1024;

/** Rejects with the system's error when the program cannot be started; any exit code is a result. */
export async function runProgram(
  file: string,
  args: string[],
  account: Account | undefined,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnProgram(file, args, account, { stdio: ["ignore", "pipe", "pipe"] });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}

/** The environment is ours alone: a LEDGERCTL_* secret must not be readable in PostgreSQL's /proc entry. */
export function spawnProgram(
  file: string,
  args: string[],
  account: Account | undefined,
  options: SpawnOptions,
): ChildProcess {
  return spawn(file, args, {
    ...options,
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C", LC_ALL: "C", TZ: "UTC" },
    // With a uid, libuv also calls setgroups(0): none of root's groups stay.
    ...(account && { uid: account.uid, gid: account.gid }),
  });
}

/** Returns a function that gives the end of what the stream has said so far. */
export function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.on("data", (chunk: Buffer | string) => {
    text = (text + chunk.toString()).slice(-outputCharsMax);
  });
  return () => text.trim();
}

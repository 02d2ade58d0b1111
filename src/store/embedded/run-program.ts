// Starting PostgreSQL's programs: as the right user, in a directory it can enter, with none of our secrets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Account } from "./account.ts";

const outputCharsMax = 64 * 1024;

/** Rejects with the system's error when the program cannot be started; any exit code is a result. */
export async function runProgram(
  file: string,
  args: string[],
  account: Account | undefined,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const options = spawnOptions(account);
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const stdout = keepEnd(child.stdout);
  const stderr = keepEnd(child.stderr);
  await once(child, "close");
  return { code: child.exitCode, stdout: stdout(), stderr: stderr() };
}

/**
 * Returns a function that gives the end of what a program has written so far. Its pipe is missing where this
 * process has no file descriptor left; "error" follows.
 */
export function keepEnd(pipe: Readable | null | undefined): () => string {
  let text = "";
  pipe?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-outputCharsMax);
  });
  return () => text.trim();
}

/** Ours alone: a LEDGERCTL_* secret must not be readable in PostgreSQL's /proc entry. */
const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LANG: "C",
  LC_ALL: "C",
  TZ: "UTC",
  // Bytes that glibc keeps at the end of each process' heap. Without them, PostgreSQL gives memory back to the system
  // after a transaction and takes it again in the next: a sixth of its CPU time where batches are small.
  MALLOC_TOP_PAD_: String(1024 * 1024),
};

export function spawnOptions(account: Account | undefined) {
  return {
    cwd: "/",
    env: environment,
    // With a uid, libuv also calls setgroups(0): none of root's groups stay.
    ...(account && { uid: account.uid, gid: account.gid }),
  };
}

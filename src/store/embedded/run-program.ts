// Starting PostgreSQL's programs: as the right user, in a directory it can enter, with none of our secrets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Account } from "./account.ts";

/** Rejects with the system's error when the program cannot be started; any exit code is a result. */
export async function runProgram(
  file: string,
  args: string[],
  account: Account | undefined,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const options = spawnOptions(account);
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  await once(child, "spawn");
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code: child.exitCode, stdout: stdout.trim(), stderr: stderr.trim() };
}

/** The environment is ours alone: a LEDGERCTL_* secret must not be readable in PostgreSQL's /proc entry. */
export function spawnOptions(account: Account | undefined) {
  return {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C", LC_ALL: "C", TZ: "UTC" },
    // With a uid, libuv also calls setgroups(0): none of root's groups stay.
    ...(account && { uid: account.uid, gid: account.gid }),
  };
}

// Starting and stopping the PostgreSQL of a cluster. PostgreSQL is a child in a session of its own, not
// under pg_ctl: no shell sees our paths, Ctrl-C does not reach it, and when it is killed we reap it
// (in a container nobody else would, and a zombie's pid keeps the next start from succeeding).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../core/thrown.ts";
import type { Installation } from "./binaries.ts";
import { fullDisk, lastLines } from "./cluster.ts";
import type { DataFolder } from "./data-folder.ts";
import { clearStaleSocketLock, findPostmaster, isPostmaster } from "./postmaster.ts";
import { keepEnd, spawnOptions } from "./run-program.ts";
import { listLogs, pruneLogs } from "./server-log.ts";
import { writeSettings } from "./settings.ts";
import { prepareSocketDirectory } from "./socket-directory.ts";

const pollMs = 15;
const stopPatienceMs = 120_000;
const stuckAfterMs = 10_000;
const lookEveryMs = 1_000;

/**
 * Starts PostgreSQL and returns at once; postmaster.pid says when it is ready. `ended` resolves when the process
 * ended, with what it said before its log file was open.
 */
export async function startPostgres(
  folder: Installation,
): Promise<{ pid: number | undefined; ended: Promise<string> }> {
  const socketDirectory = await prepareSocketDirectory(folder.home, folder.account);
  await writeSettings(folder, socketDirectory);
  await clearStaleSocketLock(folder.cluster, socketDirectory);
  await pruneLogs(folder.cluster);
  const child: ChildProcess = spawn(folder.binaries.postgres, ["-D", folder.cluster], {
    ...spawnOptions(folder.account),
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = keepEnd(child.stderr);
  const ended = once(child, "close").then(said, messageOf);
  // Neither the process nor its pipe may keep a command from ending.
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  return { pid: child.pid, ended };
}

/** Why a start failed, for a person. `said` is what PostgreSQL wrote before its log file was open. */
export async function explainFailedStart(folder: DataFolder, said: string): Promise<string> {
  const full = await fullDisk(folder.home);
  if (full !== undefined) return full;
  const [log] = await listLogs(folder.cluster);
  const fatal = said.split("\n").filter((line) => /FATAL|PANIC|HINT|DETAIL/.test(line));
  if (fatal.length > 0 || log === undefined)
    return `it said: ${lastLines(fatal.join("\n") || said)}`;
  return `the end of its log ${log} is: ${lastLines(await readFile(log, "utf8"))}`;
}

/**
 * Ends PostgreSQL: sessions are cut, a checkpoint is written. False when it could not be seen to end:
 * it runs where its pid means nothing to us, or still writes after two minutes.
 */
export async function stopPostgres(folder: DataFolder): Promise<boolean> {
  const { running } = await findPostmaster(folder.cluster);
  if (running === undefined) return true;
  if (!(await isPostmaster(running.pid, folder.cluster))) return false;
  process.kill(running.pid, "SIGINT");
  const deadline = Date.now() + stopPatienceMs;
  while (await isPostmaster(running.pid, folder.cluster)) {
    if (Date.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

/**
 * A plain SIGTERM makes PostgreSQL wait for its sessions, ours among them, while it refuses new ones: a state
 * that would never end. Ten seconds are left to a server that got the same signal and is draining.
 */
export function finishStuckShutdown(folder: DataFolder): NodeJS.Timeout {
  let stoppingSince: number | undefined;
  const look = async () => {
    const { running } = await findPostmaster(folder.cluster);
    if (running?.status !== "stopping") stoppingSince = undefined;
    else stoppingSince ??= Date.now();
    if (stoppingSince !== undefined && Date.now() - stoppingSince > stuckAfterMs) {
      await stopPostgres(folder);
    }
  };
  return setInterval(() => {
    // The lease notices whatever goes wrong here.
    look().catch(() => undefined);
  }, lookEveryMs).unref();
}

// The running PostgreSQL of a cluster, as its postmaster.pid has it: finding it, and clearing a wrong pid file.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { link, readFile, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { errorCode } from "../../core/thrown.ts";
import { isAlive } from "./durable-file.ts";
import { runProgram } from "./run-program.ts";
import { socketPort, socketFile } from "./socket-directory.ts";
import { ignoring, succeeds } from "./system-error.ts";

const emptyFilePatienceMs = 5_000;

export interface Postmaster {
  pid: number;
  socketDirectory: string;
  port: number;
  status: "starting" | "ready" | "stopping";
}

/**
 * What is known about the cluster's PostgreSQL. `leftPidFile`: none runs, but one did that could not remove its file, and some of
 * its processes may still be there.
 */
export type Finding = { running: Postmaster } | { running: undefined; leftPidFile: boolean };

/** Looks at postmaster.pid and the process behind it. Sets the file aside when its process is another one. */
export async function findPostmaster(cluster: string): Promise<Finding> {
  const path = join(cluster, "postmaster.pid");
  const text = await ignoring(readFile(path, "utf8"), "ENOENT");
  if (text === undefined) return { running: undefined, leftPidFile: false };
  const postmaster = parsePidFile(text);
  if (postmaster === undefined) return await judgeEmptyFile(path, text);
  if (await isPostmaster(postmaster.pid, cluster)) return { running: postmaster };
  // In another container on the same volume the pid means nothing, but the socket does.
  if (await answers(postmaster)) return { running: postmaster };
  // PostgreSQL clears the file itself when the pid is free; it balks at a stranger, or a zombie, with that pid.
  if (isAlive(postmaster.pid)) await setAside(path, text);
  return { running: undefined, leftPidFile: true };
}

/** The socket's own lock file names a pid too, and a stranger or a zombie with it stops a start just so. */
export async function clearStaleSocketLock(
  cluster: string,
  socketDirectory: string,
): Promise<void> {
  const path = `${socketFile(socketDirectory, socketPort)}.lock`;
  const text = await ignoring(readFile(path, "utf8"), "ENOENT");
  if (text === undefined) return;
  const holder = parsePidFile(text);
  if (holder === undefined) await judgeEmptyFile(path, text);
  else if (!(await isPostmaster(holder.pid, cluster))) await setAside(path, text);
}

/** True while `pid` is a PostgreSQL working in `cluster`; false for zombies and strangers. */
export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== "linux") {
    const { stdout } = await runProgram("/bin/ps", ["-o", "comm=", "-p", String(pid)], undefined);
    return stdout.includes("postgres");
  }
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster));
  } catch (error) {
    if (!["EACCES", "EPERM"].includes(errorCode(error) ?? "")) return false;
  }
  // Root in a container may lack the right to follow that link; the command line is open to all.
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return commandLine.split("\0").includes(cluster);
}

/** Lines: pid, data directory, start time, port, socket directory, address, memory key, status. */
function parsePidFile(text: string): Postmaster | undefined {
  const [pid, , , port, socketDirectory, , , status] = text.split("\n");
  if (pid === undefined || !/^\d+$/.test(pid)) return undefined;
  const word = status?.trim();
  return {
    pid: Number(pid),
    socketDirectory: socketDirectory ?? "",
    port: Number(port ?? 0),
    status: word === "ready" || word === "stopping" ? word : "starting",
  };
}

/** Empty is a file just being made, or what a full disk or a power cut left; PostgreSQL refuses to start over it. */
async function judgeEmptyFile(path: string, text: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined);
  if (found && Date.now() - found.mtimeMs > emptyFilePatienceMs) await setAside(path, text);
  return { running: undefined, leftPidFile: true };
}

async function answers(postmaster: Postmaster): Promise<boolean> {
  if (postmaster.socketDirectory === "") return false;
  const socket = connect(socketFile(postmaster.socketDirectory, postmaster.port));
  const isAnswered = await succeeds(once(socket, "connect"));
  socket.destroy();
  return isAnswered;
}

/**
 * Two openers may come to the same judgement, and the faster one's PostgreSQL have written its own file
 * by the time the slower one acts: so the file is moved, looked at again, and put back if it is a new one.
 */
async function setAside(path: string, judged: string): Promise<void> {
  const aside = `${path}.stale-${process.pid}-${randomBytes(3).toString("hex")}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) !== judged) await link(aside, path);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

// A PostgreSQL whose processes are all stopped where they are, as on a machine that hangs: connections to it are still
// accepted, by the kernel, and nothing is answered.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** The processes of a cluster, its postmaster first; none where it is not running. */
export function processesOf({ directory }: Pick<PostgresCluster, "directory">): {
  pid: number;
  title: string;
}[] {
  const pidFile = join(directory, "postmaster.pid");
  if (!existsSync(pidFile)) return [];
  const [line = ""] = readFileSync(pidFile, "utf8").split("\n");
  const postmaster = Number(line);
  // PostgreSQL puts each of its processes into a group of its own.
  return execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((row) => row.trim().split(/\s+/))
    .map(([pid, parent, ...title]) => ({
      pid: Number(pid),
      parent: Number(parent),
      title: title.join(" "),
    }))
    .filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    .sort((one, other) => Number(other.pid === postmaster) - Number(one.pid === postmaster))
    .map(({ pid, title }) => ({ pid, title }));
}

/** Stops all processes of a cluster (SIGSTOP); returns what lets them go on. */
export function freezeCluster(cluster: PostgresCluster): () => void {
  const processes = processesOf(cluster);
  const signalAll = (name: NodeJS.Signals) => {
    for (const { pid } of processes) signalProcess(pid, name);
  };
  signalAll("SIGSTOP");
  return () => {
    signalAll("SIGCONT");
  };
}

/** Sends a signal; a process that has ended by itself gets none. */
export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

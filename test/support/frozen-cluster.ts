// A PostgreSQL whose processes are all stopped where they are, as on a machine that hangs: connections to it are still
// accepted, by the kernel, and nothing is answered.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** Stops all processes of a cluster (SIGSTOP); returns what lets them go on. */
export function freezeCluster({ directory }: PostgresCluster): () => void {
  const [postmaster] = readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n");
  // PostgreSQL puts each of its processes into a group of its own.
  const pids = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((ids) => ids.includes(postmaster ?? ""))
    .map(([pid]) => Number(pid));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) process.kill(pid, name);
  };
  signal("SIGSTOP");
  return () => {
    signal("SIGCONT");
  };
}

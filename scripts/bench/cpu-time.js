// The CPU time of a server and of its embedded database: what a machine's other work changes least of all figures.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Of a server and all of its database's processes, those that have ended too: CPU seconds so far. */
export function cpuSeconds({ pid, dataDir }) {
  const pidFile = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8");
  const postmaster = Number(pidFile.split("\n")[0]);
  const own = processOf(postmaster);
  let database = own.seconds + own.endedChildrenSeconds;
  for (const name of readdirSync("/proc").filter((each) => /^[0-9]+$/.test(each))) {
    try {
      const { parent, seconds } = processOf(name);
      if (parent === postmaster) database += seconds;
    } catch {
      // It has ended meanwhile.
    }
  }
  return { server: processOf(pid).seconds, database };
}

/** Of /proc/<pid>/stat: the parent, and CPU seconds so far. */
function processOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const seconds = (...places) =>
    places.reduce((sum, place) => sum + Number(fields[place]), 0) / 100;
  return {
    parent: Number(fields[1]),
    seconds: seconds(11, 12),
    endedChildrenSeconds: seconds(13, 14),
  };
}

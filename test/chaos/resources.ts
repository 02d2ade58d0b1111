// What processes take of a Linux machine: memory and file descriptors.
import { readdirSync, readFileSync } from "node:fs";

export interface Resources {
  readonly memoryMib: number;
  readonly descriptors: number;
}

/** Of all these processes. Memory that they share is counted once (PSS); a process that has ended counts nothing. */
export function resourcesOf(pids: readonly number[]): Resources {
  let kib = 0;
  let descriptors = 0;
  for (const pid of pids) {
    try {
      kib += Number(
        /^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1],
      );
      descriptors += readdirSync(`/proc/${pid}/fd`).length;
    } catch (error) {
      if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return { memoryMib: Math.round(kib / 1024), descriptors };
}

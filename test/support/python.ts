// The Python of this machine: tests that need one are skipped where there is none.
import { spawnSync } from "node:child_process";

const asked = spawnSync("python3", ["-ISc", "import sys; sys.stdout.write(sys.executable)"], {
  encoding: "utf8",
});

export const hasPython = asked.status === 0;

/** Its own path: what PATH finds may be a script that looks for it at every start, which takes ten times as long. */
export const python = hasPython ? asked.stdout : "python3";

if (!hasPython) console.info("tests that need python3 are skipped: there is none");

// Whether this machine has Python: what needs it is left out where it is not, and said to be.
import { spawnSync } from "node:child_process";

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

if (!hasPython) console.info("what needs python3 is left out: there is none");

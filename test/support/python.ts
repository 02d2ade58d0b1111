// Whether this machine has Python: tests that need it are skipped where it does not.
import { spawnSync } from "node:child_process";

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

if (!hasPython) console.info("tests that need python3 are skipped: there is none");

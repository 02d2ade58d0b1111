// A shell in which the commands of a page of the docs run: the built program is `ledgerctl`, in a folder of its own, and
// what a command sets is there for those behind it.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programCommand } from "./server-process.ts";

export interface PageShell {
  /** Where its commands run. */
  readonly folder: string;
  /** Runs a command of the page, and resolves with its exit code and what it printed to stdout and stderr. */
  run(command: string): { readonly code: number | null; readonly printed: string };
}

/** `variables` are those that it begins with, beside PATH. Several may share a folder, each with a name of its own. */
export function openPageShell(
  folder: string,
  variables: Readonly<Record<string, string>>,
  name = "shell",
): PageShell {
  const bin = join(folder, ".bin");
  mkdirSync(bin, { recursive: true });
  const program = join(bin, "ledgerctl");
  const quoted = programCommand.map((word) => `"${word}"`).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  chmodSync(program, 0o755);
  const state = join(folder, `.${name}`);
  writeFileSync(state, "");
  const env = { ...variables, PATH: [bin, process.env["PATH"] ?? ""].join(delimiter) };
  return {
    folder,
    run: (command) => {
      const script = `set -a\n. "${state}"\ntrap 'export -p > "${state}"' EXIT\nexec 2>&1\n${command}`;
      const { status, stdout } = spawnSync("bash", ["-c", script], {
        cwd: folder,
        env,
        encoding: "utf8",
      });
      return { code: status, printed: stdout };
    },
  };
}

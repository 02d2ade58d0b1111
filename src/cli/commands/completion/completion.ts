// `ledgerctl completion`: prints a shell's script.
import { usageFailure } from "../../failure.ts";
import { Output } from "../../terminal/output.ts";
import { suggestion } from "../../input/suggestion.ts";
import { scripts } from "./scripts.ts";

export function printScript(shell: string): void {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  const shells = Object.keys(scripts);
  if (script === undefined) {
    throw usageFailure(`SHELL must be one of ${shells.join(", ")}${suggestion(shell, shells)}`);
  }
  new Output({}, true).line(script);
}

// How every command runs and ends: its work is loaded, and there is a result, or one message and an exit code.
import type { Command } from "commander";
import { readEnvironment, type Environment } from "../../config.ts";
import { exitCodeOf, exitCodes, failureText } from "../failure.ts";
import type { OutputFlags } from "./options.ts";

/**
 * Runs a command's action; a number it resolves with is the exit code. Failures become a message on
 * stderr, with `--json` an object, and an exit code; nothing is thrown.
 */
export async function runCommand(
  { json = false }: OutputFlags,
  action: (environment: Environment) => Promise<unknown>,
): Promise<void> {
  try {
    const result = await action(readEnvironment());
    process.exitCode = typeof result === "number" ? result : exitCodes.done;
  } catch (error) {
    process.stderr.write(failureText(error, json));
    process.exitCode = exitCodeOf(error);
  }
}

/**
 * The action of a command whose work is a function in a file of its own, which is loaded only when it runs. It gets
 * the arguments, the flags and the environment.
 */
export function loadAndRun<Given extends unknown[]>(
  load: () => Promise<(...given: [...Given, Environment]) => Promise<unknown>>,
): (...given: [...Given, Command]) => Promise<void> {
  return (...given) => {
    // The last one is the command itself, the one before that its flags.
    const before = given.slice(0, -1) as Given;
    return runCommand(before.at(-1) as OutputFlags, async (environment) => {
      const run = await load();
      return run(...before, environment);
    });
  };
}

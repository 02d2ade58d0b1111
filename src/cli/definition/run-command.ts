// How every command runs and ends: its work is loaded, and there is a result, or one message and an exit code.
import type { Command } from "commander";
import { readEnvironment, type Environment } from "../../config.ts";
import { exitCodeOf, exitCodes, failureText, usageFailure } from "../failure.ts";
import type { OutputFlags } from "./options.ts";

/**
 * Runs a command's action; a number it resolves with is the exit code. Failures become a message on
 * stderr, with `--json` an object, and an exit code; nothing is thrown.
 */
export async function runCommand(
  { json = false, jq }: OutputFlags,
  action: (environment: Environment) => Promise<unknown>,
): Promise<void> {
  try {
    const result = await action(readEnvironment());
    process.exitCode = typeof result === "number" ? result : exitCodes.done;
  } catch (error) {
    process.stderr.write(failureText(error, json || jq !== undefined));
    process.exitCode = exitCodeOf(error);
  }
}

/** Runs a command with the filter that `--jq` names, and without one where it does not. */
async function filtered(
  flags: OutputFlags,
  run: (flags: OutputFlags) => Promise<unknown>,
): Promise<unknown> {
  const isJson = flags.json === true || flags.jq !== undefined;
  if (flags.csv === true && isJson) throw usageFailure("--csv and --json exclude each other");
  if (flags.jq === undefined) return run(flags);
  const { loadJqFilter } = await import("../terminal/jq-filter.ts");
  const filter = await loadJqFilter(flags.jq);
  try {
    return await run({ ...flags, json: true, filter });
  } finally {
    filter.end();
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
    const flagsGiven = given.at(-2) as OutputFlags;
    return runCommand(flagsGiven, async (environment) => {
      const run = await load();
      return filtered(flagsGiven, (flags) =>
        run(...([...given.slice(0, -2), flags] as Given), environment),
      );
    });
  };
}

// How every command runs and ends: its work is loaded, and there is a result, or one message and an exit code.
import type { Command } from "commander";
import { isColorRefused, readEnvironment, type Environment } from "../../config.ts";
import { exitCodeOf, exitCodes, failureText, usageFailure } from "../failure.ts";
import type { OutputFlags } from "./options.ts";

/**
 * Runs a command's action; a number it resolves with is the exit code. Failures become a message on
 * stderr, with `--json` an object, and an exit code; nothing is thrown.
 */
export async function runCommand(
  { json = false, jq, color }: OutputFlags,
  action: (environment: Environment) => Promise<unknown>,
): Promise<void> {
  try {
    const result = await action(readEnvironment());
    process.exitCode = typeof result === "number" ? result : exitCodes.done;
  } catch (error) {
    const isColored = process.stderr.isTTY && color !== false && !isColorRefused();
    process.stderr.write(failureText(error, json || jq !== undefined, isColored));
    process.exitCode = exitCodeOf(error);
  }
}

/**
 * Runs a command whose results a pager shows where they are longer than the terminal: of a command that has such, on a
 * terminal that can move its cursor, and for a person.
 */
async function paged(
  flags: OutputFlags,
  { pager, term }: Environment,
  run: (flags: OutputFlags) => Promise<unknown>,
): Promise<unknown> {
  const { json, csv, quiet } = flags;
  const isForPerson = json !== true && csv !== true && quiet !== true && process.stdout.isTTY;
  const hasSize = process.stdout.rows > 0 && process.stdout.columns > 0;
  if (flags.pager !== true || !isForPerson || !hasSize || term === "dumb") return run(flags);
  const { isNoPager, Pager, PagerQuit } = await import("../terminal/pager.ts");
  if (isNoPager(pager)) return run(flags);
  const sink = new Pager(pager);
  try {
    return await run({ ...flags, sink });
  } catch (error) {
    if (error instanceof PagerQuit) return exitCodes.done;
    throw error;
  } finally {
    await sink.end();
  }
}

/** Runs a command with what stands between its results and stdout: the filter that `--jq` names, or a pager. */
async function filtered(
  flags: OutputFlags,
  environment: Environment,
  run: (flags: OutputFlags) => Promise<unknown>,
): Promise<unknown> {
  const isJson = flags.json === true || flags.jq !== undefined;
  if (flags.csv === true && isJson) throw usageFailure("--csv and --json exclude each other");
  if (flags.jq === undefined) return paged(flags, environment, run);
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
      return filtered(flagsGiven, environment, (flags) =>
        run(...([...given.slice(0, -2), flags] as Given), environment),
      );
    });
  };
}

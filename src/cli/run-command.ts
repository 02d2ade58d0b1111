// How every command ends: its result, or one message and an exit code.
import { readEnvironment, type Environment } from "../config.ts";
import { describeFailure, exitCodeOf, exitCodes } from "./failure.ts";

/**
 * Runs a command's action; a number it resolves with is the exit code. Failures become a message on
 * stderr and an exit code; nothing is thrown.
 */
export async function runCommand(
  action: (environment: Environment) => Promise<unknown>,
): Promise<void> {
  try {
    const result = await action(readEnvironment());
    process.exitCode = typeof result === "number" ? result : exitCodes.done;
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

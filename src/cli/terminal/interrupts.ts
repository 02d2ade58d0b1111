// Ctrl-C in commands that have nothing to release.
import { stopSignals } from "../../server/stop-signals.ts";
import { CommandFailure, exitCodes } from "../failure.ts";

/** What does not end by itself when it is told to. */
const patienceMs = 1_000;

/**
 * Runs a command that Ctrl-C ends with 130: `abort` ends what it waits for, so that it can tidy up. Where the command
 * itself listens for Ctrl-C, nothing is done here.
 */
export async function interruptible<Result>(
  run: () => Promise<Result>,
  abort: () => void,
): Promise<Result> {
  const interrupted = new AbortController();
  const interrupt = () => {
    if (process.listenerCount("SIGINT") > 1) return;
    interrupted.abort();
    abort();
    setTimeout(() => process.exit(exitCodes.interrupted), patienceMs).unref();
  };
  process.on("SIGINT", interrupt);
  try {
    return await run();
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new CommandFailure("interrupted", exitCodes.interrupted, error);
  } finally {
    process.off("SIGINT", interrupt);
  }
}

/** From now on SIGINT and SIGTERM end the command with 130; `before` may tidy the terminal. */
export function exitOnInterrupt(before: () => void = () => undefined): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      before();
      process.exit(exitCodes.interrupted);
    });
  }
}

/** Runs what Ctrl-C may end at any point, with 130: it has nothing to release. */
export async function untilInterrupted<Result>(run: () => Promise<Result>): Promise<Result> {
  const end = () => process.exit(exitCodes.interrupted);
  for (const signal of stopSignals) process.on(signal, end);
  try {
    return await run();
  } finally {
    for (const signal of stopSignals) process.off(signal, end);
  }
}

// Asking before what can't be undone: on a terminal only; elsewhere --yes says it.
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { CommandFailure, exitCodes, usageFailure } from "../failure.ts";

/** Whether there is somebody who can be asked. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Resolves when the user agrees, and otherwise ends the command. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!isTerminal()) {
    throw usageFailure(`${question} There is no terminal to ask on; say --yes to go ahead.`);
  }
  await ask(question, { input: process.stdin, output: process.stderr });
}

const interrupted = Symbol("Ctrl-C");

/** Asks on a terminal. Anything but yes is a failure: Ctrl-C with 130, an end of the input (Ctrl-D) like a no. */
export async function ask(
  question: string,
  terminal: { input: Readable; output: Writable },
): Promise<void> {
  const prompt = createInterface({ ...terminal, terminal: true });
  const ended = new AbortController();
  // Without a listener, readline would leave the question open for ever.
  prompt.once("SIGINT", () => {
    ended.abort(interrupted);
  });
  prompt.once("close", () => {
    ended.abort();
  });
  try {
    const answer = await prompt.question(`${question} [y/N] `, { signal: ended.signal });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    terminal.output.write("\n");
  } finally {
    prompt.close();
  }
  if (ended.signal.reason === interrupted)
    throw new CommandFailure("interrupted; nothing was done", exitCodes.interrupted);
  throw new CommandFailure("nothing was done", exitCodes.failed);
}

// Asking before what can't be undone: on a terminal only; elsewhere --yes says it.
import { createInterface } from "node:readline/promises";
import { CommandFailure, exitCodes, usageFailure } from "./failure.ts";

/** Resolves when the user agrees, and otherwise ends the command. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageFailure(`${question} There is no terminal to ask on; say --yes to go ahead.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) {
      throw new CommandFailure("nothing was done", exitCodes.failed);
    }
  } finally {
    prompt.close();
  }
}

// Asking before what can't be undone: on a terminal only; elsewhere --yes says it.
import { CommandFailure, exitCodes, usageFailure } from "../failure.ts";
import { foldRemark } from "./fold-lines.ts";
import { ask, type Prompt } from "./prompt.ts";

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
  await askToConfirm(question, { input: process.stdin, output: process.stderr });
}

/** Asks on a terminal. Anything but yes is a failure: Ctrl-C with 130, an end of the input (Ctrl-D) like a no. */
export async function askToConfirm(
  question: string,
  terminal: Pick<Prompt, "input" | "output">,
): Promise<void> {
  const outcome = "nothing was done";
  const answer = await ask(`${foldRemark(`${question} [y/N]`)} `, {
    ...terminal,
    isHidden: false,
    outcome,
  });
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure(outcome, exitCodes.failed);
}

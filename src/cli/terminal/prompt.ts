// Asking for a line on a terminal; what is typed of a secret is not shown.
import { createInterface } from "node:readline/promises";
import { Writable, type Readable } from "node:stream";
import { CommandFailure, exitCodes } from "../failure.ts";

export interface Prompt {
  readonly input: Readable;
  readonly output: Writable;
  readonly isHidden: boolean;
  /** What is said where nothing is answered: `nothing was done`. */
  readonly outcome: string;
}

const interrupted = Symbol("Ctrl-C");

/** Resolves with the line that is typed. Ctrl-C is a failure with 130, an end of the input (Ctrl-D) one with 1. */
export async function ask(
  question: string,
  { input, output, isHidden, outcome }: Prompt,
): Promise<string> {
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const shown = isHidden ? silent : output;
  const prompt = createInterface({ input, output: shown, terminal: true, historySize: 0 });
  const ended = new AbortController();
  // Without a listener, readline would leave the question open for ever.
  prompt.once("SIGINT", () => {
    ended.abort(interrupted);
  });
  prompt.once("close", () => {
    ended.abort();
  });
  if (isHidden) output.write(question);
  try {
    const answer = await prompt.question(isHidden ? "" : question, { signal: ended.signal });
    return answer.trim();
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    if (isHidden || ended.signal.aborted) output.write("\n");
    prompt.close();
  }
  if (ended.signal.reason === interrupted)
    throw new CommandFailure(`interrupted; ${outcome}`, exitCodes.interrupted);
  throw new CommandFailure(outcome, exitCodes.failed);
}

// Asking for a text on a terminal; what is typed of a secret is not shown.
import { createInterface } from "node:readline/promises";
import { Writable, type Readable } from "node:stream";
import { CommandFailure, exitCodes } from "../failure.ts";

const interrupted = Symbol("Ctrl-C");

/** Resolves with the line that is typed. Ctrl-C is a failure with 130, an end of the input (Ctrl-D) one with 1. */
export async function askHidden(
  question: string,
  isHidden: boolean,
  terminal: { input: Readable; output: Writable },
): Promise<string> {
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const output = isHidden ? silent : terminal.output;
  const prompt = createInterface({ input: terminal.input, output, terminal: true, historySize: 0 });
  const ended = new AbortController();
  prompt.once("SIGINT", () => {
    ended.abort(interrupted);
  });
  prompt.once("close", () => {
    ended.abort();
  });
  if (isHidden) terminal.output.write(question);
  try {
    const answer = await prompt.question(isHidden ? "" : question, { signal: ended.signal });
    return answer.trim();
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    if (isHidden || ended.signal.aborted) terminal.output.write("\n");
    prompt.close();
  }
  if (ended.signal.reason === interrupted)
    throw new CommandFailure("interrupted; nothing was changed", exitCodes.interrupted);
  throw new CommandFailure("nothing was changed", exitCodes.failed);
}

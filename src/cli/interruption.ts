// Ctrl-C in commands that hold nothing which has to be let go of.
import { exitCodes } from "./failure.ts";

/** From now on SIGINT and SIGTERM end the command with 130; `before` may tidy the terminal. */
export function exitOnInterrupt(before: () => void = () => undefined): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      before();
      process.exit(exitCodes.interrupted);
    });
  }
}

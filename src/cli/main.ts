// The command line: runs the command that was asked for.
import { CommanderError } from "commander";
import { exitCodes } from "./failure.ts";
import { createProgram } from "./program.ts";

async function main(): Promise<void> {
  try {
    await createProgram().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}

// Whoever reads our output may stop reading at any time (`ledgerctl entry list | head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? exitCodes.done : exitCodes.failed);
});

await main();

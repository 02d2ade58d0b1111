// The command line: runs the command that was asked for.
import { exitCodes } from "./failure.ts";
import { runProgram } from "./program.ts";

// Whoever reads our output may stop reading at any time (`ledgerctl entry list | head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? exitCodes.done : exitCodes.failed);
});

await runProgram(process.argv.slice(2));

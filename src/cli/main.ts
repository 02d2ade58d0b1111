// The command line: runs the command that was asked for.
import { setFlagsFromString } from "node:v8";
import { errorCode } from "../core/thrown.ts";
import { exitCodes } from "./failure.ts";
import { runProgram, tellOfStdout } from "./program.ts";

// V8 learns from the first collections which objects live long, and from then on makes those of the same place in the code
// among the old ones. A server's start taught it wrong: process.nextTick, of which a request has eight, took 0.2 to 0.6 µs
// and not 0.05, in some starts and not in others.
setFlagsFromString("--no-allocation-site-pretenuring");
// The more room there is for new objects, the longer V8 lets old ones gather, too: with thousands of connections the heap
// grew by 250 MB more than it needs.
setFlagsFromString("--heap-growing-percent=60");
// In Node.js 20, the first answers of a service made V8 optimize the parser of HTTP, which is WebAssembly, and a command waited
// for that at its end: a third of the time that it took.
setFlagsFromString("--wasm-tiering-budget=100000000");

const args = process.argv.slice(2);

// Whoever reads our output may stop reading at any time (`ledgerctl entry list | head`).
process.stdout.on("error", (error) => {
  if (errorCode(error) === "EPIPE") process.exit(exitCodes.done);
  tellOfStdout(args, error);
  process.exit(exitCodes.failed);
});

await runProgram(args);

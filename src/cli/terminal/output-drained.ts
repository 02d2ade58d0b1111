// Waiting for whoever reads our output.
import { once } from "node:events";

/**
 * Resolves when stdout can take more. Without it, results printed faster than a pipe is read pile up in
 * memory: 2 GB for a dry run of a million entries into `wc`.
 */
export async function outputDrained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}

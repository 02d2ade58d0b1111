// Arguments of commands that make a request of their own: its target and its body.
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { usageFailure } from "../failure.ts";
import { fileFailureReason } from "./file-failure.ts";

/** A request target begins with a slash and has only characters that may stand on a request line. */
export function requireTarget(target: string): void {
  if (!/^\/[!-~]*$/.test(target)) {
    throw usageFailure(
      "TARGET must be a path such as /v1/ledgers, with all but ASCII percent-encoded",
    );
  }
}

/** The bytes of a file, of stdin (`-`), or none. */
export async function readBody(file: string | undefined): Promise<Buffer> {
  if (file === undefined) return Buffer.alloc(0);
  if (file === "-") return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw usageFailure(`--body: ${file} can't be read: ${fileFailureReason(error)}`);
  }
}

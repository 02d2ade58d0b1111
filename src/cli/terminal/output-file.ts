// Files that commands write: under another name until they are whole.
import { createWriteStream, rmSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandFailure, exitCodes } from "../failure.ts";
import { exitOnInterrupt } from "./interrupts.ts";
import { fileFailureReason } from "../input/file-failure.ts";

/**
 * Writes what comes to a file, which has its name only once it is whole; nothing is left of one that is not, also
 * after Ctrl-C. What is there and no regular file (a pipe, /dev/null) is written to as it is: renaming would put a
 * file in its place. Rejects with what the source threw, or with a failure that names the file.
 */
export async function writeOutputFile(
  file: string,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const found = await stat(file).catch(() => null);
  const isReplaced = found === null || found.isFile() || found.isDirectory();
  const written = isReplaced ? `${file}.part` : file;
  const remove = () => {
    if (isReplaced) rmSync(written, { force: true });
  };
  exitOnInterrupt(remove);
  let sourceError: unknown = null;
  // pipeline fails both ends alike; whose failure it was decides what is said.
  const source = async function* () {
    try {
      yield* parts;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  };
  try {
    await pipeline(Readable.from(source()), createWriteStream(written));
    if (isReplaced) await rename(written, file);
  } catch (error) {
    remove();
    if (sourceError !== null) throw error;
    const message = `${file} can't be written: ${fileFailureReason(error)}`;
    throw new CommandFailure(message, exitCodes.failed, error);
  }
}

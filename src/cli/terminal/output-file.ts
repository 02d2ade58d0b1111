// Files that commands write: under another name until they are whole and on disk.
import { randomBytes } from "node:crypto";
import { createWriteStream, rmSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorCode } from "../../core/thrown.ts";
import { syncDirectory } from "../../store/embedded/durable-file.ts";
import { CommandFailure, exitCodes } from "../failure.ts";
import { fileFailureReason } from "../input/file-failure.ts";

const modeOfAll = 0o666;

/**
 * Writes what comes to a file, which has its name only once it is whole and on disk; what had the name before stays
 * until then. Nothing is left of one that is not whole, also where a signal ends the process with an exit code. What is
 * there and no regular file (a pipe, /dev/null) is written to as it is: renaming would put a file in its place. `mode`
 * is that of the file, less the umask. Rejects with what the source threw, or with a failure that names the file.
 */
export async function writeOutputFile(
  file: string,
  parts: AsyncIterable<string | Uint8Array>,
  mode = modeOfAll,
): Promise<void> {
  const found = await stat(file).catch(() => null);
  const isReplaced = found === null || found.isFile() || found.isDirectory();
  const written = isReplaced ? `${file}.${randomBytes(6).toString("hex")}.part` : file;
  const remove = () => {
    if (isReplaced) rmSync(written, { force: true });
  };
  process.once("exit", remove);
  const flags = isReplaced ? "wx" : "w";
  // A pipe has no disk to be flushed to.
  const target = createWriteStream(written, { flags, mode, flush: isReplaced });
  let sourceError: unknown = null;
  // pipeline fails both ends alike, and throws the file's error into the source; whose it was decides what is said.
  const source = async function* () {
    try {
      yield* parts;
    } catch (error) {
      if (target.errored === null) sourceError = error;
      throw error;
    }
  };
  try {
    await pipeline(Readable.from(source()), target);
    if (isReplaced) {
      await rename(written, file);
      await syncDirectory(dirname(file));
    }
  } catch (error) {
    // It may only be about to be opened, and would be there after it was removed.
    if (isReplaced && !target.closed)
      await new Promise<void>((closed) => target.once("close", closed));
    remove();
    if (sourceError !== null) throw error;
    const message = `${file} can't be written: ${reasonOf(error, file)}`;
    throw new CommandFailure(message, exitCodes.failed, error);
  } finally {
    process.off("exit", remove);
  }
}

function reasonOf(error: unknown, file: string): string {
  return errorCode(error) === "ENOENT"
    ? `there is no folder ${dirname(file)}`
    : fileFailureReason(error);
}

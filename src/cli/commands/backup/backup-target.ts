// Where a backup goes: to a file that has its name once it is whole and on disk, or to stdout.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { open, rename, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorCode } from "../../../core/thrown.ts";
import { syncDirectory } from "../../../store/embedded/durable-file.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { fileFailureReason } from "../../input/file-failure.ts";

/**
 * Writes to a file with mode 0600. Nothing is left of one that is not whole, also after Ctrl-C; what had the name
 * before stays until then. What is there and no regular file (a pipe, a device) is written to as it is.
 */
export async function writeToFile(file: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found !== null && !found.isFile() && !found.isDirectory()) {
    const handle = await explaining(file, open(file, "w"));
    await writeAll(file, handle, bytes).finally(() => handle.close());
    return;
  }
  const part = `${file}.${randomBytes(6).toString("hex")}.part`;
  const remove = () => {
    rmSync(part, { force: true });
  };
  // Also where a signal ends the process.
  process.once("exit", remove);
  try {
    const handle = await explaining(file, open(part, "wx", 0o600));
    try {
      await writeAll(file, handle, bytes);
      await explaining(file, handle.sync());
    } finally {
      await handle.close();
    }
    await explaining(file, rename(part, file));
    await explaining(file, syncDirectory(dirname(file)));
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** Fails also where the reader goes away: elsewhere that is no failure, but half a backup is none. */
export async function writeToStdout(bytes: AsyncIterable<Buffer>): Promise<void> {
  process.stdout.removeAllListeners("error");
  try {
    await pipeline(Readable.from(bytes), process.stdout, { end: false });
  } catch (error) {
    if (errorCode(error) !== "EPIPE") throw error;
    const message = "the backup is not whole: whoever read it stopped before its end";
    throw new CommandFailure(message, exitCodes.failed, error);
  }
}

async function writeAll(
  file: string,
  handle: FileHandle,
  bytes: AsyncIterable<Buffer>,
): Promise<void> {
  for await (const chunk of bytes) await explaining(file, handle.appendFile(chunk));
}

async function explaining<Value>(file: string, attempt: Promise<Value>): Promise<Value> {
  try {
    return await attempt;
  } catch (error) {
    const reason =
      errorCode(error) === "ENOENT"
        ? `there is no folder ${dirname(file)}`
        : fileFailureReason(error);
    const message = `${file} can't be written: ${reason}; no backup was made`;
    throw new CommandFailure(message, exitCodes.failed, error);
  }
}

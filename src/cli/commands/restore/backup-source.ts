// Where a backup comes from: a file, or a pipe whose bytes are kept aside until all of them are checked.
import { createReadStream } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { spool } from "../../../backup/backup-file.ts";
import { usageFailure } from "../../failure.ts";
import { fileFailureReason } from "../../input/file-failure.ts";

/** The file, open; `-` is stdin. Whoever gets it closes it. */
export async function openSource(file: string): Promise<FileHandle> {
  if (file === "-") {
    if (process.stdin.isTTY) {
      throw usageFailure("a backup does not come from a terminal: name a file, or redirect stdin");
    }
    return spool(process.stdin as AsyncIterable<Buffer>);
  }
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw usageFailure(`${file} can't be read: it is a folder`);
    return found.isFile() ? await open(file) : await spool(createReadStream(file));
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw usageFailure(`${file} can't be read: ${fileFailureReason(error)}`);
  }
}

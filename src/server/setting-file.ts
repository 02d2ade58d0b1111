// Reading a file that a setting names.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { SettingError } from "../config.ts";
import { errorCode, messageOf } from "../core/thrown.ts";

/** What a regular file has. Rejects with SettingError, which begins with the setting and the file, and says why. */
export async function readSettingFile(setting: string, file: string): Promise<Buffer> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    const reason =
      { ENOENT: "there is no such file", EACCES: "this user may not read it" }[
        errorCode(error) ?? ""
      ] ?? messageOf(error);
    throw new SettingError(`${setting} ${file} can't be read: ${reason}`, { cause: error });
  }
}

/**
 * Opening or reading a pipe may wait for a writer for ever, and neither a reload nor the end of the process could go on:
 * O_NONBLOCK lets its opening return, so that it can be told from a file.
 */
async function readRegularFile(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) {
      throw new Error(
        `it is ${stats.isDirectory() ? "a folder" : "a pipe or a device"}, not a regular file`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

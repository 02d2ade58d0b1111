// The files of `log watch`: the last good note, and what it found where a log does not hold to it.
import { open, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { decodeNote, noteBytesMax } from "../../../core/note.ts";
import { errorCode, messageOf } from "../../../core/thrown.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { fileFailureReason } from "../../input/file-failure.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import type { LogConflict } from "./watch-check.ts";

/** The last good note; null where there is no file yet. Throws MalformedNote for one that is not text. */
export async function readState(file: string): Promise<string | null> {
  let handle;
  try {
    handle = await open(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw unreadable(file, error);
  }
  try {
    if (!(await handle.stat()).isFile()) throw usageFailure(`--state ${file} must be a file`);
    // One byte more than any note has shows that it is none.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(noteBytesMax + 1));
    return decodeNote(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, error: unknown): CommandFailure {
  const message = `--state ${file} can't be read: ${fileFailureReason(error)}`;
  return new CommandFailure(message, exitCodes.failed, error);
}

/** Keeps a note: after a crash the file has this one or the one before, whole. */
export async function writeState(file: string, note: string): Promise<void> {
  await writeOutputFile(file, Readable.from([note]));
}

/**
 * Keeps the evidence beside the state file, in `FILE.conflict-<time>`, and resolves with that name; with the one that is
 * there where the same was found before, since cron may find it every minute.
 */
export async function writeConflict(
  file: string,
  lastNote: string | null,
  conflict: LogConflict,
): Promise<string> {
  const text = describeConflict(lastNote, conflict);
  const prefix = `${basename(file)}.conflict-`;
  const names = await readdir(dirname(file)).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(dirname(file), name);
    if ((await readFile(path, "utf8").catch(() => null)) === text) return path;
  }
  const time = new Date().toISOString().replace(/[-:]/g, "");
  const path = join(dirname(file), prefix + time);
  await writeOutputFile(path, Readable.from([text]));
  return path;
}

function describeConflict(lastNote: string | null, conflict: LogConflict): string {
  const { message, newNote, seenNote, proof } = conflict;
  const parts = [`${message}\n`];
  if (lastNote !== null) parts.push(`The last good note:\n\n${lastNote}`);
  if (seenNote !== null && seenNote !== lastNote) {
    parts.push(`The note of the server that was good:\n\n${seenNote}`);
  }
  if (newNote !== null) parts.push(`The note of the server:\n\n${newNote}`);
  if (proof !== null) {
    const { from, to, hashes } = proof;
    const lines = hashes.map((hash) => `${hash}\n`).join("");
    parts.push(`The server's proof of consistency from ${from} to ${to}, in base64:\n\n${lines}`);
  }
  return parts.join("\n");
}

/** Where the evidence is, for a message; why it could not be kept, where it could not. */
export async function keepConflict(
  file: string,
  lastNote: string | null,
  conflict: LogConflict,
): Promise<{ path: string | null; told: string }> {
  try {
    const path = await writeConflict(file, lastNote, conflict);
    return { path, told: `the evidence is in ${path}` };
  } catch (error) {
    const text = describeConflict(lastNote, conflict);
    return { path: null, told: `the evidence could not be kept (${messageOf(error)}):\n${text}` };
  }
}

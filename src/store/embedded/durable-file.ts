// Small files that must be whole after a crash: written aside, fsynced, then given their name.
import { randomBytes } from "node:crypto";
import { link, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../core/thrown.ts";
import { ignoring } from "./system-error.ts";

const unfinishedPattern = /^\.ledgerctl-new-(\d+)-[0-9a-f]+$/;
const abandonedAfterMs = 3_600_000;

// Made by this process and not finished. A restarted container often gets its old pid again, so a name
// with our pid says nothing by itself.
const inTheMaking = new Set<string>();

export interface Owner {
  uid: number;
  gid: number;
}

/** A name in `dir` for something not finished yet; `clearUnfinished` finds it should this process die. */
export function unfinishedName(dir: string): string {
  const name = `.ledgerctl-new-${process.pid}-${randomBytes(6).toString("hex")}`;
  inTheMaking.add(name);
  return join(dir, name);
}

export function isUnfinishedName(name: string): boolean {
  return unfinishedPattern.test(name);
}

/** Mode 0600. What `path` holds already stays: it is never overwritten, and never seen half written. */
export async function createFileOnce(path: string, content: string): Promise<void> {
  await writeAside(path, content, (aside) => ignoring(link(aside, path), "EEXIST"));
}

/** Mode 0600; readers see the old content or the new one. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await writeAside(path, content, (aside) => rename(aside, path));
}

/** Opens a new file that belongs to `owner` where this process may give files away (root). */
export async function writeNewFile(path: string, content: string, owner: Owner): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    if (process.getuid?.() === 0) await file.chown(owner.uid, owner.gid);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes names created or renamed in `dir` survive a power cut. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what processes that are gone (or very slow: an hour) left unfinished in `dir`. */
export async function clearUnfinished(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const pid = unfinishedPattern.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(dir, name);
    const age = await stat(path).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    const isMaking = Number(pid) === process.pid ? inTheMaking.has(name) : isAlive(Number(pid));
    if (isMaking && age < abandonedAfterMs) continue;
    // An initdb whose parent was killed may still be writing: what is left now goes next time.
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** A process with this id exists, be it a zombie or another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

async function writeAside(
  path: string,
  content: string,
  publish: (aside: string) => Promise<void>,
): Promise<void> {
  const dir = dirname(path);
  const aside = unfinishedName(dir);
  try {
    // The folder's owner gets the file, so that a root who helps out once does not lock the owner out.
    await writeNewFile(aside, content, await stat(dir));
    await publish(aside);
    await syncDirectory(dir);
  } finally {
    await rm(aside, { force: true });
  }
}

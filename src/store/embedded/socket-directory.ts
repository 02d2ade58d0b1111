// Where the database's Unix socket lives: in the data folder, or in a short directory when that path is too long.
import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import type { Account } from "./account.ts";
import { ignoring } from "./system-error.ts";

/** Part of the socket's file name only: nothing listens on TCP. */
export const socketPort = 5432;

// sockaddr_un holds 108 bytes on Linux, 104 on macOS, with the zero at the end.
const pathBytesMax = process.platform === "darwin" ? 103 : 107;
// Anything else would need quoting in PostgreSQL's list of directories and in URLs.
const plainPath = /^[A-Za-z0-9/._-]+$/;

/** The directory, made if needed: 0700 and the database user's own, or an error. */
export async function prepareSocketDirectory(
  home: string,
  account: Account | undefined,
): Promise<string> {
  const uid = account?.uid ?? process.getuid?.() ?? 0;
  const preferred = join(home, "socket");
  const directory = fits(preferred) ? preferred : shortDirectory(home, uid);
  await ignoring(mkdir(directory, { mode: 0o700 }), "EEXIST");
  const found = await lstat(directory);
  const isOurs = found.uid === uid || found.uid === process.getuid?.();
  // Others could have made the name in /tmp before us, to be asked for the password.
  if (!found.isDirectory() || !isOurs) {
    throw new DatabaseUnavailable(
      `The database's socket directory ${directory} belongs to somebody else or is no directory. ` +
        "Remove it, or choose a --data-dir with a shorter path.",
    );
  }
  await chmod(directory, 0o700);
  if (account && found.uid !== uid) await chown(directory, account.uid, account.gid);
  return directory;
}

export function socketFile(directory: string, port: number): string {
  return join(directory, `.s.PGSQL.${port}`);
}

function fits(directory: string): boolean {
  const path = socketFile(directory, socketPort);
  return Buffer.byteLength(path) <= pathBytesMax && plainPath.test(directory);
}

function shortDirectory(home: string, uid: number): string {
  const name = `ledgerctl-${uid}-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`;
  const directory = join(tmpdir(), name);
  return fits(directory) ? directory : join("/tmp", name);
}

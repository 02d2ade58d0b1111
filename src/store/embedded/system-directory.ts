// /var/lib/ledgerctl: where root keeps what its unprivileged user must reach and a data folder cannot hold.
import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";

export const systemDirectory = "/var/lib/ledgerctl";

const homePattern = /^\/var\/lib\/ledgerctl\/[0-9a-f]{16}-[0-9a-f]{8}$/;

/** Root's only. Open to all whatever the umask: what is in it has modes of its own. */
export async function makeSystemDirectory(): Promise<void> {
  await mkdir(systemDirectory, { recursive: true });
  await chmod(systemDirectory, 0o755);
}

/** The random part keeps a new data folder at an old path from meeting the database of the one before. */
export function newHome(dataFolder: string): string {
  const hash = createHash("sha256").update(dataFolder).digest("hex").slice(0, 16);
  return join(systemDirectory, `${hash}-${randomBytes(4).toString("hex")}`);
}

/** Root makes and gives away this directory: a marker written by somebody else must not choose just any. */
export function isHome(path: string): boolean {
  return homePattern.test(path);
}

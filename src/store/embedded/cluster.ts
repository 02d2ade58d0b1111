// The PostgreSQL cluster on disk: built once, aside, and moved into place whole. Starting it lives elsewhere.
import { appendFile, chown, mkdir, readdir, readFile, rename, rm, statfs } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { isNameless } from "./account.ts";
import type { Installation } from "./binaries.ts";
import type { DataFolder } from "./data-folder.ts";
import { clearUnfinished, syncDirectory, unfinishedName, writeNewFile } from "./durable-file.ts";
import { runProgram } from "./run-program.ts";
import { settingsFile } from "./settings.ts";
import { ignoring } from "./system-error.ts";

export const superuser = "ledgerctl";

// What initdb writes, and a first WAL segment on top.
const newClusterBytes = 64 * 1024 * 1024;

/** Leaves a whole cluster of this PostgreSQL's major version in `folder.cluster`, or throws. */
export async function ensureCluster(folder: Installation): Promise<void> {
  const { binaries } = folder;
  if (folder.home !== folder.path) await clearUnfinished(folder.home);
  const major = await clusterMajor(folder.cluster);
  if (major === undefined) {
    if (folder.initialized) {
      throw new DatabaseUnavailable(
        `The data folder ${folder.path} had its database in ${folder.cluster}, and it is gone. ` +
          "Bring that directory back, or restore a backup into a new --data-dir; nothing was changed.",
      );
    }
    await buildCluster(folder);
  } else if (major !== String(binaries.major)) {
    throw new DatabaseUnavailable(
      `The database in ${folder.cluster} was made by PostgreSQL ${major}; this ledgerctl brings PostgreSQL ${binaries.major}. ` +
        `Run the ledgerctl that made it, back up, and restore into a new --data-dir with this one.`,
    );
  }
}

/** Undefined when there is nothing; refuses a directory that is no cluster. */
async function clusterMajor(cluster: string): Promise<string | undefined> {
  const version = await ignoring(readFile(join(cluster, "PG_VERSION"), "utf8"), "ENOENT");
  if (version !== undefined) return version.trim();
  const names = await ignoring(readdir(cluster), "ENOENT");
  if (names === undefined || names.length === 0) return undefined;
  throw new DatabaseUnavailable(
    `${cluster} is not empty and holds no PostgreSQL database (no PG_VERSION). ` +
      "Restore it from a backup, or choose another --data-dir.",
  );
}

async function buildCluster(folder: Installation): Promise<void> {
  const workshop = unfinishedName(folder.home);
  const account = folder.account;
  try {
    await mkdir(workshop, { mode: 0o700 });
    const passwordFile = join(workshop, "password");
    const owner = account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    await writeNewFile(passwordFile, folder.password, owner);
    if (account) await chown(workshop, account.uid, account.gid);
    const built = join(workshop, "cluster");
    await runInitdb(built, passwordFile, folder);
    await includeSettings(built);
    // Of two first starters one wins here; the other's cluster, with the same password, is thrown away.
    await ignoring(rename(built, folder.cluster), "ENOTEMPTY", "EEXIST");
    await syncDirectory(folder.home);
  } finally {
    await rm(workshop, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runInitdb(
  target: string,
  passwordFile: string,
  folder: Installation,
): Promise<void> {
  const args = [
    `--pgdata=${target}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
    // A failed attempt stays until the free space was looked at.
    "--no-clean",
  ];
  const { code, stderr } = await runProgram(folder.binaries.initdb, args, folder.account);
  if (code === 0) return;
  const reason =
    (await fullDisk(folder.home)) ?? nameless(folder) ?? `initdb said: ${lastLines(stderr)}`;
  throw new DatabaseUnavailable(`The database in ${folder.home} could not be created: ${reason}`);
}

/** initdb looks its own user up and ends without a name, whatever --username says. */
function nameless({ account }: DataFolder): string | undefined {
  if (!isNameless(account)) return undefined;
  const uid = account?.uid ?? process.getuid?.() ?? "?";
  return (
    `user id ${uid} has no entry in the user database, and PostgreSQL needs one to make a database. ` +
    "Add a line for it to /etc/passwd, run as a user who has one, or name a PostgreSQL server with --database-url."
  );
}

/** What to say about the disk that holds `dir`; undefined when space is not the trouble. */
export async function fullDisk(dir: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize > newClusterBytes / 4) return undefined;
  return (
    `the disk is full (${Math.floor((bavail * bsize) / 1024 / 1024)} MB left). ` +
    "Free some space (a new database takes about 60 MB), or choose another --data-dir."
  );
}

export function lastLines(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-4).join("; ") || "nothing";
}

async function includeSettings(cluster: string): Promise<void> {
  // Root writes into a directory of another user here: a symlink must not lead it elsewhere.
  const flag = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
  await appendFile(
    join(cluster, "postgresql.conf"),
    `\n# ledgerctl's settings; what stands below them wins.\ninclude_if_exists '${settingsFile}'\n`,
    { flag, flush: true },
  );
}

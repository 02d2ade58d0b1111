// The data folder: whether it is ours, what it records, and where its database lives. PostgreSQL is not met here.
import { randomBytes } from "node:crypto";
import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  readdir,
  readFile,
  realpath,
  stat,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { canEnter, databaseAccount, runsAsRoot, type Account } from "./account.ts";
import { clearUnfinished, createFileOnce, isUnfinishedName, replaceFile } from "./durable-file.ts";
import { logKeyFile, masterKeyFile } from "./key-files.ts";
import { isHome, makeSystemDirectory, newHome } from "./system-directory.ts";
import { ignoring, succeeds } from "./system-error.ts";

const markerFile = "ledgerctl.json";
const passwordFile = "database-password";
const markerFormat = 1;

const markerSchema = z.object({
  format: z.number(),
  /** Set where the database user cannot enter the data folder: its database is in here instead. */
  home: z.string().refine(isHome).optional(),
  /** True once a whole cluster was there: from then on a missing one is a loss, not a first start. */
  initialized: z.boolean(),
});

type Marker = z.infer<typeof markerSchema>;

export interface DataFolder {
  /** The data folder itself, without symlinks. */
  path: string;
  /** The directory that holds the cluster: `path`, or one in the system directory. */
  home: string;
  cluster: string;
  /** Who runs PostgreSQL when this process is root. */
  account: Account | undefined;
  password: string;
  initialized: boolean;
  /** What a PostgreSQL that is started here allows. */
  connectionsMax: number;
}

/** Makes the folder if needed. Refuses, without touching anything, a folder that holds foreign files. */
export async function openDataFolder(dataDir: string, connectionsMax: number): Promise<DataFolder> {
  const path = await makeFolder(resolve(dataDir));
  await claimFolder(path);
  await clearUnfinished(path);
  const marker = await readMarker(path);
  const home = marker.home ?? path;
  const cluster = join(home, "postgres");
  const owner = (await ignoring(stat(cluster), "ENOENT")) ?? (await stat(path));
  const account = await databaseAccount(owner);
  if (marker.home !== undefined && !marker.initialized) await makeHome(home, account);
  const password = await loadPassword(path, marker);
  const { initialized } = marker;
  return { path, home, cluster, account, password, initialized, connectionsMax };
}

/** Whether a first start has been there. False also where the folder can't be looked into. */
export async function isDataFolder(dataDir: string): Promise<boolean> {
  return succeeds(access(join(dataDir, markerFile)));
}

/** Records that the cluster is there. */
export async function markInitialized(folder: DataFolder): Promise<void> {
  if (folder.initialized) return;
  const marker = await readMarker(folder.path);
  await replaceFile(join(folder.path, markerFile), format({ ...marker, initialized: true }));
}

async function makeFolder(path: string): Promise<string> {
  // Root's database user has to walk through the folder; 0711 lets nobody list it, and each secret is 0600.
  const mode = runsAsRoot() ? 0o711 : 0o700;
  await makeFolders(path, mode);
  const found = await stat(path);
  if (found.isDirectory()) return await realpath(path);
  throw new DatabaseUnavailable(
    `The data folder ${path} is a file, not a folder. Choose another --data-dir.`,
  );
}

/** In place of mkdir's own recursion, which never ends where a folder takes none, as /proc does. */
async function makeFolders(path: string, mode: number): Promise<void> {
  if (await succeeds(access(path))) return;
  await makeFolders(dirname(path), mode);
  await ignoring(mkdir(path, { mode }), "EEXIST");
}

/** Puts the marker into a folder that is empty; leaves one that has it alone. */
async function claimFolder(path: string): Promise<void> {
  const names = await readdir(path);
  if (names.includes(markerFile)) return;
  const foreign = names.filter((name) => !mayPrecedeMarker(name));
  // Another first start may have put its marker and more there between our two looks.
  if (foreign.length > 0 && !(await readdir(path)).includes(markerFile)) {
    throw new DatabaseUnavailable(
      `The data folder ${path} is not empty and was not made by ledgerctl (it holds ${foreign.slice(0, 3).join(", ")}, and no ${markerFile}). ` +
        "Nothing in it was touched. Choose an empty or a new --data-dir.",
    );
  }
  await access(path, constants.W_OK);
  const found = await stat(path);
  const account = await databaseAccount(found);
  const reachable = account === undefined || (await canEnter(account, path));
  const tooOpen = account !== undefined && reachable && found.uid === 0 ? 0o066 : 0o077;
  if (found.uid === process.getuid?.()) await chmod(path, found.mode & 0o7777 & ~tooOpen);
  const marker = { format: markerFormat, initialized: false };
  await createFileOnce(
    join(path, markerFile),
    format(reachable ? marker : { ...marker, home: newHome(path) }),
  );
}

/** What may be in a folder before the marker: nothing but a volume's own directory, or a key put there to be used. */
function mayPrecedeMarker(name: string): boolean {
  return (
    ["lost+found", masterKeyFile.name, logKeyFile.name].includes(name) || isUnfinishedName(name)
  );
}

async function makeHome(home: string, account: Account | undefined): Promise<void> {
  if (account === undefined) {
    throw new DatabaseUnavailable(
      `The database of this data folder is in ${home}, because root started it. Run as root, or choose another --data-dir.`,
    );
  }
  await makeSystemDirectory();
  await ignoring(mkdir(home, { mode: 0o700 }), "EEXIST");
  if ((await stat(home)).uid === 0) await chown(home, account.uid, account.gid);
}

async function readMarker(path: string): Promise<Marker> {
  const file = join(path, markerFile);
  const marker = parseMarker(await readFile(file, "utf8"));
  if (marker === null) {
    throw new DatabaseUnavailable(
      `${file} is damaged. Restore it from a backup, or choose another --data-dir.`,
    );
  }
  if (marker.format > markerFormat) {
    throw new DatabaseUnavailable(
      `The data folder ${path} was made by a newer ledgerctl (format ${marker.format}; this one knows ${markerFormat}). Install that version.`,
    );
  }
  return marker;
}

function parseMarker(text: string): Marker | null {
  try {
    return markerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function format(marker: Marker): string {
  return `${JSON.stringify(marker, null, 2)}\n`;
}

async function loadPassword(path: string, marker: Marker): Promise<string> {
  const file = join(path, passwordFile);
  if (!marker.initialized) await createFileOnce(file, `${randomBytes(32).toString("base64url")}\n`);
  const text = await ignoring(readFile(file, "utf8"), "ENOENT");
  if (text !== undefined) return text.trim();
  throw new DatabaseUnavailable(
    `${file} is missing: without it the database there cannot be opened. Restore it from a backup.`,
  );
}

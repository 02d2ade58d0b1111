// What the operating system refuses (a full disk, a missing permission): ignored where that is expected, else put
// into words for a person.
import { errorCode } from "../../core/thrown.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";

const outsideDatabase = "or name a PostgreSQL server with --database-url";

/**
 * What an attempt gives; where the system refuses it, DatabaseUnavailable with "<what>: <reason>. <remedy>", e.g.
 * what = 'The data folder /x cannot be used'. `elsewhere` is the remedy that another place would be.
 */
export async function explaining<Value>(
  what: string,
  attempt: () => Promise<Value>,
  elsewhere = "choose another --data-dir",
): Promise<Value> {
  try {
    return await attempt();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new DatabaseUnavailable(`${what}: ${reasonAndRemedy(error, elsewhere)}`, {
      cause: error,
    });
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

function reasonAndRemedy(error: NodeJS.ErrnoException, elsewhere: string): string {
  const path = error.path === undefined ? "" : ` at ${error.path}`;
  const beginning = elsewhere.charAt(0).toUpperCase() + elsewhere.slice(1);
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return `the disk is full. Free some space (a new database takes about 60 MB), ${elsewhere}, ${outsideDatabase}.`;
    case "EACCES":
    case "EPERM":
      return `permission denied${path} for user id ${process.getuid?.() ?? "?"}. Run as the user who owns the folder, ${elsewhere}, ${outsideDatabase}.`;
    case "EROFS":
      return `the file system is read-only${path}. ${beginning}, ${outsideDatabase}.`;
    case "ENOTDIR":
    case "EEXIST":
      return `there is a file where a folder should be${path}. ${beginning}.`;
    default:
      return `${error.message}. ${beginning}, ${outsideDatabase}.`;
  }
}

// The database under a server or an administrative command: somebody's own by its URL, or the embedded one of a folder.
import { errorCode, messageOf } from "../core/thrown.ts";
import { DatabaseUnavailable } from "../store/database-unavailable.ts";
import { AmbiguousCommit, isConnectionLost } from "../store/database/errors.ts";
import { isDataFolder } from "../store/embedded/data-folder.ts";
import {
  openEmbeddedDatabase,
  type DatabaseState,
  type EmbeddedDatabaseOptions,
} from "../store/embedded/embedded-database.ts";

export interface Database {
  readonly url: string;
  /** The folder of the embedded database; null where the database is somebody's own. */
  readonly dataDir: string | null;
  /** Where root keeps the embedded database, if not in its folder: the user who runs it can't reach that. */
  readonly homeElsewhere: string | null;
  /** Whether the database can be expected to answer. */
  state(): DatabaseState;
  stop(): Promise<void>;
}

/** Where a database is. */
export type DatabasePlace = { readonly url: string } | { readonly dataDir: string };

/** Somebody's own database, which runs without us. `dataDir` where another process started it as the embedded one. */
export function runningDatabase(url: string, dataDir: string | null = null): Database {
  return {
    url,
    dataDir,
    homeElsewhere: null,
    state: () => "running",
    stop: async () => undefined,
  };
}

/** Opens a database, starting the embedded one if need be. `mayMake`: a folder without a database gets one. */
export async function openDatabase(
  place: DatabasePlace,
  { mayMake, ...embedded }: Omit<EmbeddedDatabaseOptions, "dataDir"> & { mayMake: boolean },
): Promise<Database> {
  if ("url" in place) return runningDatabase(place.url);
  const { dataDir } = place;
  if (!mayMake && !(await isDataFolder(dataDir))) {
    throw new DatabaseUnavailable(
      `there is no database in ${dataDir} yet: \`ledgerctl serve\` or \`ledgerctl org create NAME\` makes one there, ` +
        "and --data-dir (LEDGERCTL_DATA_DIR) or --database-url (LEDGERCTL_DATABASE_URL) name another",
    );
  }
  return openEmbeddedDatabase({ dataDir, ...embedded });
}

/** Resolves with what `act` does. If the database can't be reached, the failure is DatabaseUnavailable and says why. */
export async function whenReachable<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof AmbiguousCommit) {
      throw new DatabaseUnavailable(
        `it is not known whether this was recorded for good: ${messageOf(error.cause)}. ` +
          "Check that the database and its standbys run, and look before you repeat it.",
      );
    }
    if (!isConnectionLost(error)) throw error;
    throw new DatabaseUnavailable(
      `the database can't be used: ${unreachableReason(error)}. ` +
        "Check --database-url (LEDGERCTL_DATABASE_URL) and that it runs.",
    );
  }
}

/** Only a socket is a file that may not be there. */
function unreachableReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return errorCode(cause) === "ENOENT" && cause instanceof Error && "address" in cause
    ? `there is no socket ${String(cause.address)}`
    : error.message;
}

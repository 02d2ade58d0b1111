// The secret keys of a restored database: from the backup into the data folder, or advice where they have to come from.
import type { Secrets } from "../../../backup/backup-format.ts";
import type { Environment } from "../../../config.ts";
import { parseMasterKey } from "../../../core/signing.ts";
import type { Database } from "../../../server/database.ts";
import { logKeyFile, masterKeyFile } from "../../../store/embedded/key-files.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";

interface KindOfKey {
  readonly title: string;
  readonly file: typeof masterKeyFile;
  readonly setting: string;
  /** What does not work without it, and what to do then. */
  readonly without: string;
  readonly given: (environment: Environment) => string | null;
  readonly inBackup: (secrets: Secrets | null) => readonly string[];
}

const kinds: readonly KindOfKey[] = [
  {
    title: "master key",
    file: masterKeyFile,
    setting: "MASTER_KEY",
    without: "Without it no API key works: revoke them and make new ones.",
    given: ({ masterKey }) => masterKey,
    inBackup: (secrets) => secrets?.masterKeys ?? [],
  },
  {
    title: "log key",
    file: logKeyFile,
    setting: "LOG_KEY",
    without:
      "Without it no checkpoints are signed of logs that have some, unless they are begun anew.",
    given: ({ logKey }) => logKey,
    inBackup: (secrets) => secrets?.logKeys ?? [],
  },
];

/**
 * Keeps the backup's keys in the data folder, where there is one; nothing there is replaced. Resolves with what is left to do
 * for the user. `secrets` is null for a backup without them.
 */
export async function keepSecretKeys(
  secrets: Secrets | null,
  database: Database,
  environment: Environment,
): Promise<readonly string[]> {
  const advice: string[] = [];
  for (const kind of kinds) {
    const left = await keepKey(kind, secrets, database, environment);
    if (left !== null) advice.push(left);
  }
  return advice;
}

async function keepKey(
  { title, file, setting, without, given, inBackup }: KindOfKey,
  secrets: Secrets | null,
  { dataDir }: Database,
  environment: Environment,
): Promise<string | null> {
  const kept = dataDir === null ? undefined : await file.load(dataDir);
  const [current, ...previous] = inBackup(secrets);
  if (current === undefined) {
    if (kept !== undefined || given(environment) !== null) return null;
    const remedy =
      dataDir === null
        ? `Set LEDGERCTL_${setting} to the one that was used before`
        : `Copy ${file.name} from the old data folder to ${dataDir}, or set LEDGERCTL_${setting}`;
    return `The backup has no ${title}. ${remedy}, before \`ledgerctl serve\`. ${without}`;
  }
  if (dataDir === null) {
    return isKey(given(environment), current)
      ? null
      : `The backup has the ${title}, which no database holds: set LEDGERCTL_${setting} to it. ${whereKeysAre}`;
  }
  if (kept !== undefined && !isKey(kept, current)) {
    throw new CommandFailure(
      `${dataDir} has a ${title}, and it is not that of the backup. Nothing was restored: name a new --data-dir`,
      exitCodes.conflict,
    );
  }
  await file.store(dataDir, current);
  if (previous.length === 0) return null;
  return (
    `The backup has ${previous.length + 1} ${title}s. The current one is in ${dataDir} now; ` +
    `set LEDGERCTL_PREVIOUS_${setting}S to the others. ${whereKeysAre}`
  );
}

/** Base64 can be written in more than one way. */
function isKey(text: string | null, key: string): boolean {
  return text !== null && parseMasterKey(text)?.toString("base64") === key;
}

const whereKeysAre =
  "They are in the second line of the backup's content (`zstd -dc FILE` or `gunzip -c FILE`).";

// The master key of a restored database: from the backup into the data folder, or advice where it has to come from.
import type { Secrets } from "../../../backup/backup-format.ts";
import type { Environment } from "../../../config.ts";
import { parseMasterKey } from "../../../core/signing.ts";
import type { Database } from "../../../server/database.ts";
import { masterKeyFile } from "../../../store/embedded/key-files.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";

/**
 * Keeps the backup's master key in the data folder, where there is one; nothing there is replaced. Resolves with what
 * is left to do for the user, or null. `secrets` is null for a backup without them.
 */
export async function keepMasterKey(
  secrets: Secrets | null,
  { dataDir }: Database,
  environment: Environment,
): Promise<string | null> {
  const kept = dataDir === null ? undefined : await masterKeyFile.load(dataDir);
  const [current, ...previous] = secrets?.masterKeys ?? [];
  if (current === undefined) {
    return kept === undefined && environment.masterKey === null ? withoutKey(dataDir) : null;
  }
  if (dataDir === null) return isKey(environment.masterKey, current) ? null : keyOfOwnDatabase;
  if (kept !== undefined && !isKey(kept, current)) {
    throw new CommandFailure(
      `${dataDir} has a master key, and it is not that of the backup. Nothing was restored: name a new --data-dir`,
      exitCodes.conflict,
    );
  }
  await masterKeyFile.store(dataDir, current);
  if (previous.length === 0) return null;
  return (
    `The backup has ${previous.length + 1} master keys. The current one is in ${dataDir} now; ` +
    `set LEDGERCTL_PREVIOUS_MASTER_KEYS to the others. ${whereKeysAre}`
  );
}

/** Base64 can be written in more than one way. */
function isKey(text: string | null, key: string): boolean {
  return text !== null && parseMasterKey(text)?.toString("base64") === key;
}

const whereKeysAre =
  "They are in the second line of the backup's content (`zstd -dc FILE` or `gunzip -c FILE`).";

const keyOfOwnDatabase = `The backup has the master key, which no database holds: set LEDGERCTL_MASTER_KEY to it. ${whereKeysAre}`;

function withoutKey(dataDir: string | null): string {
  const remedy =
    dataDir === null
      ? "Set LEDGERCTL_MASTER_KEY to the one that its API keys were made with"
      : `Copy master-key from the old data folder to ${dataDir}, or set LEDGERCTL_MASTER_KEY`;
  return `The backup has no master key. ${remedy}, before \`ledgerctl serve\`. Without it no API key works: revoke them and make new ones.`;
}

// The master keys that the secrets of API keys are derived from: found, made where there may be none yet, and checked
// against the keys in the database.
import { EnvironmentError, SettingError, type Environment } from "../config.ts";
import { masterKeyFingerprint, parseMasterKey } from "../core/signing.ts";
import type { Timestamp } from "../core/time.ts";
import { hasApiKeys, listMasterKeyFingerprints } from "../store/api-keys.ts";
import type { Pool } from "../store/database/pool.ts";
import { masterKeyFile } from "../store/embedded/key-files.ts";

export interface MasterKeys {
  readonly current: Buffer;
  /** The current one, and those before it that are still accepted. */
  readonly all: readonly Buffer[];
}

/**
 * The master keys: from the environment, else from the embedded database's folder, where one is made
 * as long as there are no API keys. Rejects with SettingError where there is none, or where a live API key was made with
 * one that is not at hand.
 */
export async function loadMasterKeys(
  environment: Environment,
  pool: Pool,
  dataDir: string | null,
): Promise<MasterKeys> {
  const text = environment.masterKey ?? (await storedMasterKey(pool, dataDir));
  const current = requireMasterKey(text, "LEDGERCTL_MASTER_KEY");
  const previous = environment.previousMasterKeys.map((key) =>
    requireMasterKey(key, "LEDGERCTL_PREVIOUS_MASTER_KEYS"),
  );
  const all = [current, ...previous];
  const given = new Set(all.map(masterKeyFingerprint));
  const used = await listMasterKeyFingerprints(pool, new Date().toISOString() as Timestamp);
  const missing = used.filter((fingerprint) => !given.has(fingerprint));
  if (missing.length > 0) {
    throw new SettingError(
      `API keys in the database were made with another master key (fingerprint ${missing.join(", ")}). ` +
        "Set LEDGERCTL_MASTER_KEY to that one, or add it to LEDGERCTL_PREVIOUS_MASTER_KEYS.",
    );
  }
  return { current, all };
}

async function storedMasterKey(pool: Pool, dataDir: string | null): Promise<string> {
  if (dataDir === null) {
    throw new SettingError(
      "LEDGERCTL_MASTER_KEY is not set. With a database of your own, set it to 32 random bytes in base64 " +
        "(`openssl rand -base64 32`) and keep it safe: the API keys' secrets are derived from it.",
    );
  }
  const stored = await masterKeyFile.load(dataDir);
  if (stored !== undefined) return stored;
  if (await hasApiKeys(pool)) {
    throw new SettingError(
      `the master key is missing from ${dataDir}, but API keys were made with it. ` +
        "Put the file back, or set LEDGERCTL_MASTER_KEY.",
    );
  }
  return masterKeyFile.create(dataDir);
}

function requireMasterKey(text: string, name: string): Buffer {
  const key = parseMasterKey(text);
  if (key !== null) return key;
  throw new EnvironmentError(name, "must be 32 bytes in base64 (44 characters)");
}

// The master key of an embedded database: a file of its own beside PostgreSQL's directory, never in it.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { createFileOnce } from "./durable-file.ts";
import { explaining, ignoring } from "./system-error.ts";

export const masterKeyFile = "master-key";

/** Base64 of 32 bytes, as kept; undefined when the folder has none. Does not check the content. */
export async function loadMasterKeyFile(dataDir: string): Promise<string | undefined> {
  const text = await explaining(`The master key in ${dataDir} cannot be read`, () =>
    ignoring(readFile(join(dataDir, masterKeyFile), "utf8"), "ENOENT"),
  );
  return text?.trim();
}

/**
 * Makes a key from 32 random bytes and returns it in base64. A key that is there already is never
 * replaced: of two processes that make one at the same time, both return the one that was kept.
 */
export async function createMasterKeyFile(dataDir: string): Promise<string> {
  return storeMasterKeyFile(dataDir, randomBytes(32).toString("base64"));
}

/** Keeps a key in base64, unless there is one already; returns the one that is kept. */
export async function storeMasterKeyFile(dataDir: string, key: string): Promise<string> {
  await explaining(`The master key in ${dataDir} cannot be written`, () =>
    createFileOnce(join(dataDir, masterKeyFile), `${key}\n`),
  );
  const kept = await loadMasterKeyFile(dataDir);
  if (kept === undefined) {
    throw new DatabaseUnavailable(
      `The master key in ${dataDir} disappeared while it was being made. Start again.`,
    );
  }
  return kept;
}

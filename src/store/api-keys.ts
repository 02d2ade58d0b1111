// API keys. Their secrets are derived from the master key and are not in the database.
import * as z from "zod";
import { scopes, type Scope } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

const apiKeyRow = z.object({
  apiKey: z.string(),
  organizationId: z.string(),
  /** Null where it was made without one. */
  name: z.string().nullable(),
  scopes: z.array(z.enum(scopes)),
  masterKeyFingerprint: z.string(),
  createdAt: timestampColumn,
  expiresAt: timestampColumn.nullable(),
  revokedAt: timestampColumn.nullable(),
});

export type ApiKeyRecord = z.infer<typeof apiKeyRow>;

const columns = sql.fragment`
  api_key AS "apiKey", organization_id AS "organizationId", name, to_json(scopes) AS scopes,
  master_key_fingerprint AS "masterKeyFingerprint", created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

/** Records a key that was made; its secret is not part of it. */
export async function insertApiKey(
  connection: Connection,
  key: Omit<ApiKeyRecord, "scopes" | "revokedAt"> & { readonly scopes: readonly Scope[] },
): Promise<void> {
  await connection.run(command`
    INSERT INTO api_keys
      (api_key, organization_id, name, scopes, master_key_fingerprint, created_at, expires_at)
    VALUES (${key.apiKey}, ${key.organizationId}, ${key.name}, ${sql.array([...key.scopes], "text")},
            ${key.masterKeyFingerprint}, ${key.createdAt}, ${key.expiresAt})`);
}

/** A key, live or not; null when it was never made. */
export async function findApiKey(
  connection: Connection,
  apiKey: string,
): Promise<ApiKeyRecord | null> {
  return connection.maybeOne(
    sql.type(apiKeyRow)`SELECT ${columns} FROM api_keys WHERE api_key = ${apiKey}`,
  );
}

/** Every key, live or not, by creation. */
export async function listApiKeys(connection: Connection): Promise<readonly ApiKeyRecord[]> {
  return connection.any(
    sql.type(apiKeyRow)`SELECT ${columns} FROM api_keys ORDER BY created_at, api_key`,
  );
}

/** Marks a key revoked, once; a second time keeps the first moment. Null when there is no such key. */
export async function revokeApiKey(
  connection: Connection,
  apiKey: string,
  revokedAt: Timestamp,
): Promise<ApiKeyRecord | null> {
  return connection.transaction(async (transaction) => {
    await transaction.run(command`
      UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${revokedAt})
       WHERE api_key = ${apiKey}`);
    return findApiKey(transaction, apiKey);
  });
}

const existsRow = z.object({ exists: z.boolean() });
const fingerprintRow = z.object({ fingerprint: z.string() });

/** The fingerprints of the master keys that live keys were made with. */
export async function listMasterKeyFingerprints(
  connection: Connection,
  now: Timestamp,
): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(fingerprintRow)`
    SELECT DISTINCT master_key_fingerprint AS fingerprint FROM api_keys
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`);
  return rows.map(({ fingerprint }) => fingerprint);
}

/** Whether any key was ever made, live or not. */
export async function hasApiKeys(connection: Connection): Promise<boolean> {
  const { exists } = await connection.one(
    sql.type(existsRow)`SELECT EXISTS (SELECT 1 FROM api_keys)`,
  );
  return exists;
}

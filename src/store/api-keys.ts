// API keys. Their secrets are derived from the master key and are not in the database.
import { sql } from "slonik";
import { z } from "zod";
import { scopes, type Scope } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
import type { ReadConnection } from "./read-pool.ts";

const apiKeyRow = z.object({
  apiKey: z.string(),
  organizationId: z.string(),
  scopes: z.array(z.enum(scopes)),
  masterKeyFingerprint: z.string(),
  createdAt: timestampColumn,
  expiresAt: timestampColumn.nullable(),
  revokedAt: timestampColumn.nullable(),
});

export type ApiKeyRecord = z.infer<typeof apiKeyRow>;

const columns = sql.fragment`
  api_key AS "apiKey", organization_id AS "organizationId", scopes,
  master_key_fingerprint AS "masterKeyFingerprint", created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt"`;

/** Records a key that was made; its secret is not part of it. */
export async function insertApiKey(
  pool: ReadConnection,
  key: {
    apiKey: string;
    organizationId: string;
    scopes: readonly Scope[];
    masterKeyFingerprint: string;
    createdAt: Timestamp;
    expiresAt: Timestamp | null;
  },
): Promise<void> {
  await pool.query(sql.unsafe`
    INSERT INTO api_keys
      (api_key, organization_id, scopes, master_key_fingerprint, created_at, expires_at)
    VALUES (${key.apiKey}, ${key.organizationId}, ${sql.array([...key.scopes], "text")},
            ${key.masterKeyFingerprint}, ${key.createdAt}, ${key.expiresAt})`);
}

/** A key, live or not; null when it was never made. */
export async function findApiKey(
  pool: ReadConnection,
  apiKey: string,
): Promise<ApiKeyRecord | null> {
  return pool.maybeOne(
    sql.type(apiKeyRow)`SELECT ${columns} FROM api_keys WHERE api_key = ${apiKey}`,
  );
}

/** Every key, live or not, by creation. */
export async function listApiKeys(pool: ReadConnection): Promise<readonly ApiKeyRecord[]> {
  return pool.any(
    sql.type(apiKeyRow)`SELECT ${columns} FROM api_keys ORDER BY created_at, api_key`,
  );
}

/** Marks a key revoked, once; a second time keeps the first moment. Null when there is no such key. */
export async function revokeApiKey(
  pool: ReadConnection,
  apiKey: string,
  revokedAt: Timestamp,
): Promise<ApiKeyRecord | null> {
  return pool.maybeOne(sql.type(apiKeyRow)`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${revokedAt})
     WHERE api_key = ${apiKey} RETURNING ${columns}`);
}

/** The fingerprints of the master keys that live keys were made with. */
export async function listMasterKeyFingerprints(
  pool: ReadConnection,
  now: Timestamp,
): Promise<readonly string[]> {
  const rows = await pool.any(sql.type(z.object({ fingerprint: z.string() }))`
    SELECT DISTINCT master_key_fingerprint AS fingerprint FROM api_keys
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`);
  return rows.map(({ fingerprint }) => fingerprint);
}

/** Whether any key was ever made, live or not. */
export async function hasApiKeys(pool: ReadConnection): Promise<boolean> {
  const { rowCount } = await pool.query(sql.unsafe`SELECT 1 FROM api_keys LIMIT 1`);
  return rowCount > 0;
}

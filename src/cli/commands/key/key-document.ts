// An API key as it is printed, without its secret.
import { type ApiKeyRecord } from "../../../store/api-keys.ts";

export type KeyDocument = ReturnType<typeof document>;

export function document(key: ApiKeyRecord) {
  const { apiKey, organizationId, name, createdAt, expiresAt, revokedAt } = key;
  return { apiKey, name, organizationId, scopes: key.scopes, createdAt, expiresAt, revokedAt };
}

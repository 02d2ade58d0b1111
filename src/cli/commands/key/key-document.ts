// An API key as it is printed, without its secret.
import { type ApiKeyRecord } from "../../../store/api-keys.ts";

export function document(key: ApiKeyRecord) {
  const { apiKey, organizationId, createdAt, expiresAt, revokedAt } = key;
  return { apiKey, organizationId, scopes: key.scopes, createdAt, expiresAt, revokedAt };
}

// Making, listing and revoking API keys.
import type { Environment } from "../../../config.ts";
import { scopes, type Scope } from "../../../core/ledger.ts";
import { timestampFromEpochMs } from "../../../core/time.ts";
import { createApiKey } from "../../../engine/administration.ts";
import { listApiKeys, revokeApiKey, type ApiKeyRecord } from "../../../store/api-keys.ts";
import { requireDurationMs, requireId } from "../../input/arguments.ts";
import { loadMasterKeys } from "../../../server/master-keys.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { notFoundFailure, usageFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../options.ts";

export interface CreateKeyFlags extends DatabaseFlags {
  org: string;
  scope?: string[];
  expiresIn?: string;
}

export async function createKey(flags: CreateKeyFlags, environment: Environment): Promise<void> {
  const organizationId = requireId("--org", flags.org);
  const wanted = requireScopes(flags.scope);
  const lifetimeMs =
    flags.expiresIn === undefined ? null : requireDurationMs("--expires-in", flags.expiresIn);
  await withDatabase(flags, environment, async ({ output, pool, database, now }) => {
    const masterKeys = await loadMasterKeys(environment, pool, database.dataDir);
    const createdAt = now();
    const expiresAt =
      lifetimeMs === null ? null : timestampFromEpochMs(Date.parse(createdAt) + lifetimeMs);
    const made = await createApiKey(pool, {
      organizationId,
      scopes: wanted,
      masterKey: masterKeys.current,
      createdAt,
      expiresAt,
    });
    if (made === null) throw notFoundFailure(`there is no organization ${organizationId}`);
    const key = { ...made, organizationId, scopes: wanted, createdAt, expiresAt };
    output.result(key, () => {
      // The id alone would lose the secret for ever.
      if (output.isQuiet) return `${made.apiKey} ${made.apiSecret}`;
      return [
        `API key     ${made.apiKey}`,
        `API secret  ${made.apiSecret}   (shown this once)`,
        `scopes      ${wanted.join(" ")}`,
        `expires     ${expiresAt ?? "never"}`,
      ].join("\n");
    });
  });
}

export async function listKeys(flags: DatabaseFlags, environment: Environment): Promise<void> {
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const keys = await listApiKeys(pool);
    output.list(
      keys.map(document),
      [
        { title: "API KEY", value: ({ apiKey }) => apiKey },
        { title: "ORGANIZATION", value: ({ organizationId }) => organizationId },
        { title: "SCOPES", value: (key) => key.scopes.join(" ") },
        { title: "CREATED", value: ({ createdAt }) => createdAt },
        { title: "EXPIRES", value: ({ expiresAt }) => expiresAt ?? "" },
        { title: "REVOKED", value: ({ revokedAt }) => revokedAt ?? "" },
      ],
      ({ apiKey }) => apiKey,
    );
  });
}

export async function revokeKey(
  apiKey: string,
  flags: DatabaseFlags,
  environment: Environment,
): Promise<void> {
  await withDatabase(flags, environment, async ({ output, pool, now }) => {
    const revoked = await revokeApiKey(pool, apiKey, now());
    if (revoked === null) throw notFoundFailure(`there is no API key ${apiKey}`);
    output.result(document(revoked), () => `${apiKey} was revoked at ${revoked.revokedAt ?? ""}`);
  });
}

function document(key: ApiKeyRecord) {
  const { apiKey, organizationId, createdAt, expiresAt, revokedAt } = key;
  return { apiKey, organizationId, scopes: key.scopes, createdAt, expiresAt, revokedAt };
}

function requireScopes(given: readonly string[] | undefined): readonly Scope[] {
  const names = given?.flatMap((scope) => scope.split(","));
  if (names === undefined) return scopes;
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined) {
    throw usageFailure(`--scope ${unknown} is not known; the scopes are ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}

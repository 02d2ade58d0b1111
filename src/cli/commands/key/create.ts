// `key create`: an API key, whose secret is shown this once.
import type { Environment } from "../../../config.ts";
import { defaultScopes, scopes, type Scope } from "../../../core/ledger.ts";
import { timestampFromEpochMs } from "../../../core/time.ts";
import { createApiKey } from "../../../engine/administration.ts";
import { requireDurationMs, requireLabel } from "../../input/arguments.ts";
import { loadMasterKeys } from "../../../server/master-keys.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { findStoredOrganization } from "../../connection/stored-names.ts";
import { notFoundFailure, usageFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { printable } from "../../terminal/printable.ts";

export interface CreateKeyFlags extends DatabaseFlags {
  org: string;
  name?: string;
  scope?: string[];
  expiresIn?: string;
}

export async function createKey(flags: CreateKeyFlags, environment: Environment): Promise<void> {
  requireLabel("--org", flags.org);
  const name = flags.name === undefined ? null : requireLabel("--name", flags.name);
  const wanted = requireScopes(flags.scope);
  const lifetimeMs =
    flags.expiresIn === undefined ? null : requireDurationMs("--expires-in", flags.expiresIn);
  await withDatabase(flags, environment, async ({ output, pool, database, now }) => {
    const organizationId = await findStoredOrganization(pool, "--org", flags.org);
    const masterKeys = await loadMasterKeys(environment, pool, database.dataDir);
    const createdAt = now();
    const expiresAt =
      lifetimeMs === null ? null : timestampFromEpochMs(Date.parse(createdAt) + lifetimeMs);
    const made = await createApiKey(pool, {
      organizationId,
      name,
      scopes: wanted,
      masterKey: masterKeys.current,
      createdAt,
      expiresAt,
    });
    if (made === null) throw notFoundFailure(`there is no organization ${organizationId}`);
    const key = { ...made, name, organizationId, scopes: wanted, createdAt, expiresAt };
    output.result(key, () => {
      // The id alone would lose the secret for ever.
      if (output.isQuiet) return `${made.apiKey} ${made.apiSecret}`;
      return [
        `API key     ${made.apiKey}`,
        `API secret  ${made.apiSecret}   (shown this once)`,
        ...(name === null ? [] : [`name        ${printable(name)}`]),
        `scopes      ${wanted.join(" ")}`,
        `expires     ${expiresAt ?? "never"}`,
      ].join("\n");
    });
  });
}

function requireScopes(given: readonly string[] | undefined): readonly Scope[] {
  const names = given?.flatMap((scope) => scope.split(","));
  if (names === undefined) return defaultScopes;
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined) {
    throw usageFailure(`--scope ${unknown} is not known; the scopes are ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}

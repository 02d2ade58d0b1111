// `key revoke`.
import type { Environment } from "../../../config.ts";
import { revokeApiKey } from "../../../store/api-keys.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { notFoundFailure } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./key-document.ts";

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

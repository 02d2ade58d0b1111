// `key list`.
import type { Environment } from "../../../config.ts";
import { listApiKeys } from "../../../store/api-keys.ts";
import { withDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { document } from "./key-document.ts";

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
      ["apiKey", "organizationId", "scopes", "createdAt", "expiresAt", "revokedAt"],
    );
  });
}

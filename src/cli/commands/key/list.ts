// `key list`.
import type { Environment } from "../../../config.ts";
import { listApiKeys } from "../../../store/api-keys.ts";
import { withDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import type { Column } from "../../terminal/output.ts";
import { document, type KeyDocument } from "./key-document.ts";

export async function listKeys(flags: DatabaseFlags, environment: Environment): Promise<void> {
  await withDatabase(flags, environment, async ({ output, pool }) => {
    const keys = await listApiKeys(pool);
    output.list(keys.map(document), columns, ({ apiKey }) => apiKey, [
      ...(["apiKey", "name", "organizationId", "scopes"] as const),
      ...(["createdAt", "expiresAt", "revokedAt"] as const),
    ]);
  });
}

/** A moment; where there is little room, its day. */
function momentColumn(title: string, leaveOut: number, momentOf: (key: KeyDocument) => string) {
  return {
    title,
    leaveOut,
    value: momentOf,
    shortValue: (key: KeyDocument) => momentOf(key).slice(0, "2026-01-31".length),
  };
}

const columns: readonly Column<KeyDocument>[] = [
  { title: "API KEY", value: ({ apiKey }) => apiKey },
  { title: "NAME", cutTo: 8, value: ({ name }) => name ?? "" },
  { title: "ORGANIZATION", leaveOut: 1, value: ({ organizationId }) => organizationId },
  { title: "SCOPES", cutTo: 12, leaveOut: 4, value: (key) => key.scopes.join(" ") },
  momentColumn("CREATED", 2, ({ createdAt }) => createdAt),
  momentColumn("EXPIRES", 3, ({ expiresAt }) => expiresAt ?? ""),
  momentColumn("REVOKED", 5, ({ revokedAt }) => revokedAt ?? ""),
];

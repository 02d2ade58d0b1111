// Statistics of whole tables, for whoever has filled them at once: a restore and a seed.
import { withCopySession } from "./backup/session.ts";
import { listTables, qualifiedName } from "./backup/tables.ts";

/** Gathers statistics of rows that are new: until then plans are made for empty tables. */
export function analyzeTables(databaseUrl: string, purpose: "restore" | "seed"): Promise<void> {
  return withCopySession(databaseUrl, purpose, async (client) => {
    for (const table of await listTables(client))
      await client.query(`ANALYZE ${qualifiedName(table)}`);
  });
}

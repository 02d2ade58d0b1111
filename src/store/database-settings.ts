// Settings of the database server that the product's promises rest on.
import { sql } from "slonik";
import { z } from "zod";
import type { ReadConnection } from "./read-pool.ts";

const settingRow = z.object({ name: z.string(), setting: z.string() });

/** Settings under which an acknowledged write can be lost in a crash. */
export async function listUnsafeSettings(
  pool: ReadConnection,
): Promise<readonly z.infer<typeof settingRow>[]> {
  return pool.any(sql.type(settingRow)`
    SELECT name, setting FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'`);
}

// Settings of the database server that the product's promises rest on, or its connections.
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";

const settingRow = z.object({ name: z.string(), setting: z.string() });

/** Settings under which an acknowledged write can be lost in a crash. */
export async function listUnsafeSettings(
  connection: Connection,
): Promise<readonly z.infer<typeof settingRow>[]> {
  return connection.any(sql.type(settingRow)`
    SELECT name, setting FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'`);
}

const limitRow = z.object({ connectionsMax: z.int() });

/** How many connections the database allows its role at all, whoever else has some of them. */
export async function getConnectionLimit(connection: Connection): Promise<number> {
  const { connectionsMax } = await connection.one(sql.type(limitRow)`
    SELECT least(
             sum(CASE name WHEN 'max_connections' THEN setting::integer
                           ELSE CASE WHEN rolsuper THEN 0 ELSE -setting::integer END END),
             min(CASE WHEN rolsuper OR rolconnlimit < 0 THEN NULL ELSE rolconnlimit END),
             min(CASE WHEN rolsuper OR datconnlimit < 0 THEN NULL ELSE datconnlimit END)
           )::integer AS "connectionsMax"
      FROM pg_settings
      CROSS JOIN (SELECT * FROM pg_roles WHERE rolname = current_user) AS role
      CROSS JOIN (SELECT * FROM pg_database WHERE datname = current_database()) AS database
     WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`);
  return connectionsMax;
}

const roleRow = z.object({ isStandby: z.boolean() });

/** Whether the host is a standby, which takes no writes. */
export async function isStandby(connection: Connection): Promise<boolean> {
  return (await connection.one(sql.type(roleRow)`SELECT pg_is_in_recovery() AS "isStandby"`))
    .isStandby;
}

// A session that copies whole tables: as long as that takes, and with all rows or an error.
import type { Client } from "pg";
import * as z from "zod";
import { anyRows, withSingleClient } from "../database/single-client.ts";
import { sql } from "../database/statement.ts";

const settingRow = z.object({ setting: z.string() });

/** Runs `work` with a connection whose statements no timeout ends, but the wait for a lock. */
export function withCopySession<Result>(
  databaseUrl: string,
  purpose: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return withSingleClient(databaseUrl, purpose, async (client) => {
    // Asked by name, because not every version has each of them.
    await anyRows(
      client,
      sql.type(settingRow)`
      SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '60s' WHEN 'row_security' THEN 'off' ELSE '0' END,
                        false) AS setting
        FROM pg_settings
       WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout',
                      'idle_session_timeout', 'lock_timeout', 'row_security')`,
    );
    return work(client);
  });
}

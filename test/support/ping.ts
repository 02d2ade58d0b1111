// The least that a connection can be asked.
import * as z from "zod";
import { sql } from "../../src/store/database/statement.ts";
import type { Connection } from "../../src/store/database/connection.ts";

/** Rejects unless the database answers. */
export async function ping(connection: Connection): Promise<void> {
  await connection.one(sql.type(z.object({ answer: z.number() }))`SELECT 1 AS answer`);
}

// The record of administration, which triggers of the database write.
import * as z from "zod";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";

const actRow = z.object({
  number: z.number(),
  at: timestampColumn,
  kind: z.string(),
  /** The table of the row that was made, changed or removed. */
  subject: z.string(),
  ledgerId: z.string().nullable(),
  /** The row after the act (removed: before it) by column; numbers are strings, so that none is rounded. */
  record: z.custom<Readonly<Record<string, unknown>>>((value) => typeof value === "object"),
  operator: z.string().nullable(),
  databaseRole: z.string(),
  program: z.string(),
  /** In lower-case hex. */
  hash: z.string(),
});

export type AdministrationAct = Readonly<z.output<typeof actRow>>;

/** The newest acts of all, oldest of them first. */
export async function listAdministrationActs(
  connection: Connection,
  limit: number,
): Promise<readonly AdministrationAct[]> {
  const acts = await connection.any(sql.type(actRow)`
    SELECT number, at, kind, subject, ledger_id AS "ledgerId",
           (SELECT jsonb_object_agg(name, CASE jsonb_typeof(value)
                                            WHEN 'number' THEN to_jsonb(value::text)
                                            ELSE value END)
              FROM jsonb_each(record) AS columns (name, value)) AS record,
           operator, database_role AS "databaseRole", program, encode(hash, 'hex') AS hash
      FROM administration_acts ORDER BY number DESC LIMIT ${limit}`);
  return acts.reverse();
}

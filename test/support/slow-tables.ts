// Tables that take long to read, as those of many years do.
import * as z from "zod";
import { command, sql } from "../../src/store/database/statement.ts";
import type { TestBooks } from "./service.ts";

export type SlowTable = "journal_lines" | "period_close_subtrees";

/** Whoever reads a table waits so long. */
export async function slowDown(
  { pool }: TestBooks,
  table: SlowTable,
  seconds: number,
): Promise<void> {
  const name = sql.identifier([table]);
  const stored = sql.identifier([`${table}_of_years`]);
  await pool.transaction(async (transaction) => {
    await transaction.run(command`ALTER TABLE ${name} RENAME TO ${stored}`);
    await transaction.run(command`
      CREATE VIEW ${name} AS
        WITH years AS MATERIALIZED (SELECT pg_sleep(${sql.literalValue(String(seconds))}))
        SELECT ${stored}.* FROM ${stored}, years`);
  });
}

/** Undoes `slowDown`; waits for who reads the table. */
export async function speedUp({ pool }: TestBooks, table: SlowTable): Promise<void> {
  const name = sql.identifier([table]);
  const stored = sql.identifier([`${table}_of_years`]);
  await pool.transaction(async (transaction) => {
    await transaction.run(command`DROP VIEW ${name}`);
    await transaction.run(command`ALTER TABLE ${stored} RENAME TO ${name}`);
  });
}

/** How many statements are waiting in a slow table of the books' database. */
export async function countSleepers({ pool }: TestBooks): Promise<number> {
  const { count } = await pool.one(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM pg_stat_activity
     WHERE wait_event = 'PgSleep' AND datname = current_database()`);
  return count;
}

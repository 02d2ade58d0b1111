// The record of administration, which triggers of the database write.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { countRow, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

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

/** Tables of ledgers. Where the database is spread over nodes, acts about their rows are recorded in `ledger_acts`. */
export const tablesBesideActs = [
  ...["ledger_states", "accounts", "asset_rules", "period_closes"],
  "log_states",
  "deliveries",
];

const isThereRow = z.object({ isThere: z.boolean() });

/** Whether each ledger has a record of its own, of the acts about its rows: where the database is spread over nodes. */
export async function haveLedgersOwnActs(connection: Connection): Promise<boolean> {
  const { isThere } = await connection.one(sql.type(isThereRow)`
    SELECT to_regclass('ledger_acts') IS NOT NULL AS "isThere"`);
  return isThere;
}

/** The newest acts of all, oldest of them first, and how many there are in all. */
export async function listAdministrationActs(
  connection: Connection,
  limit: number,
): Promise<{ readonly acts: readonly AdministrationAct[]; readonly total: number }> {
  if (!(await haveLedgersOwnActs(connection))) {
    return newestOf(connection, sql.fragment`administration_acts`, limit);
  }
  const [common, ofLedgers] = await Promise.all([
    // Before it was spread, it was the record of ledgers too; their own records begin with a copy.
    newestOf(
      connection,
      sql.fragment`(SELECT * FROM administration_acts
                     WHERE subject <> ALL (${sql.array(tablesBesideActs, "text")}))`,
      limit,
    ),
    newestOf(connection, sql.fragment`ledger_acts`, limit),
  ]);
  const acts = [...common.acts, ...ofLedgers.acts].sort((one, other) =>
    one.at === other.at ? one.number - other.number : one.at < other.at ? -1 : 1,
  );
  return { acts: acts.slice(-limit), total: common.total + ofLedgers.total };
}

async function newestOf(connection: Connection, record: FragmentSqlToken, limit: number) {
  const acts = await connection.any(sql.type(actRow)`
    SELECT number, at, kind, subject, ledger_id AS "ledgerId",
           (SELECT jsonb_object_agg(name, CASE jsonb_typeof(value)
                                            WHEN 'number' THEN to_jsonb(value::text)
                                            ELSE value END)
              FROM jsonb_each(record) AS columns (name, value)) AS record,
           operator, database_role AS "databaseRole", program, encode(hash, 'hex') AS hash
      FROM ${record} AS acts ORDER BY at DESC, number DESC LIMIT ${limit}`);
  const { count } = await connection.one(
    sql.type(countRow)`SELECT count(*) FROM ${record} AS acts`,
  );
  return { acts: acts.reverse(), total: count };
}

/**
 * Names who acts in the rest of a transaction, for the record, in place of the user of the operating system: an API key.
 * SET LOCAL, which Citus passes on to the other nodes of the transaction.
 */
export function nameOperator(transaction: Connection, operator: string): Promise<unknown> {
  return transaction.run(command`SET LOCAL ledgerctl.operator = ${sql.literalValue(operator)}`);
}

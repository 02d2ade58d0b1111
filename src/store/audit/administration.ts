// What an audit reads of the record of administration, and how it compares the record with the tables.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { tablesBesideActs } from "../administration-acts.ts";
import { hashColumn } from "../columns.ts";
import type { Connection } from "../database/connection.ts";
import { sql } from "../database/statement.ts";
import { foundRow, type FoundRow } from "./journal.ts";
import { readPages } from "../pages.ts";

/** The tables whose rows acts are about, with their keys. */
const recordedTables: Readonly<Record<string, readonly string[]>> = {
  organizations: ["organization_id"],
  api_keys: ["api_key"],
  ledgers: ["ledger_id"],
  ledger_states: ["ledger_id"],
  accounts: ["ledger_id", "gl_account_code"],
  asset_rules: ["ledger_id", "asset_code", "version"],
  period_closes: ["ledger_id", "number"],
  log_states: ["ledger_id", "log"],
  deliveries: ["ledger_id", "delivery_id"],
  wallet_digest_completions: ["completed_at"],
};

/** Acts of one record, and the tables that it is about. */
export interface ActsScope {
  /** Whose record it is, where each ledger has its own; else null: the one that is for all. */
  readonly recordOf: string | null;
  /** Acts about, and rows of, one ledger only; null: of all and of none. */
  readonly ledgerId: string | null;
  readonly subjects: readonly string[];
}

/**
 * The record of all acts, or of those that are about no ledger's own rows where each ledger has a record: what it says of
 * one ledger, or of all (null).
 */
export function commonScope(ledgerId: string | null, areLedgersApart: boolean): ActsScope {
  const subjects = Object.keys(recordedTables).filter(
    (table) => !areLedgersApart || !tablesBesideActs.includes(table),
  );
  return { recordOf: null, ledgerId, subjects };
}

/** A ledger's own record. */
export function ledgerScope(ledgerId: string): ActsScope {
  return { recordOf: ledgerId, ledgerId, subjects: tablesBesideActs };
}

const actRow = z.object({
  number: z.number(),
  fields: z.array(z.string().nullable()),
  hash: hashColumn,
});

/** An act as it is hashed: its fields as texts, in the order of the hash. */
export type AuditedAct = Readonly<z.output<typeof actRow>>;

const rowsPerPage = 1_000;

/** All acts of a record in pages, by number. */
export function readAuditedActs(
  connection: Connection,
  recordOf: string | null,
): AsyncGenerator<readonly AuditedAct[], void> {
  return readPages<AuditedAct>(rowsPerPage, (last, limit) =>
    connection.any(sql.type(actRow)`
      SELECT number, hash,
             json_build_array(
               number::text, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
               kind, subject, ledger_id::text, record::text, operator, database_role, program)
               AS fields
        FROM ${actsOf(recordOf)} AS acts WHERE number > ${last?.number ?? Number.MIN_SAFE_INTEGER}
       ORDER BY number LIMIT ${limit}`),
  );
}

function actsOf(recordOf: string | null): FragmentSqlToken {
  return recordOf === null
    ? sql.fragment`administration_acts`
    : sql.fragment`(SELECT * FROM ledger_acts WHERE ledger_id = ${recordOf})`;
}

/** The acts of a scope, with the keys of the rows that they are about. */
function actsIn({ recordOf, ledgerId, subjects }: ActsScope): FragmentSqlToken {
  return sql.fragment`
    SELECT subject, ${keyOfRecord} AS key, number, kind, record FROM ${actsOf(recordOf)} AS acts
     WHERE subject = ANY (${sql.array(subjects, "text")})
       AND (${ledgerId}::uuid IS NULL OR record ->> 'ledger_id' = ${ledgerId}::uuid::text)`;
}

/** The rows of the tables of a scope, each as one JSON document. Only tables with ledgers have rows of one. */
function rowsIn({ ledgerId, subjects }: ActsScope): FragmentSqlToken {
  const tables = subjects.filter(
    (table) => ledgerId === null || recordedTables[table]?.[0] === "ledger_id",
  );
  const ofLedger = ledgerId === null ? sql.fragment`` : sql.fragment`WHERE ledger_id = ${ledgerId}`;
  const selections = tables.map(
    (table) => sql.fragment`
      SELECT ${sql.literalValue(table)} AS subject, to_jsonb(rows) AS record
        FROM ${sql.identifier([table])} AS rows ${ofLedger}`,
  );
  return sql.fragment`${sql.join(selections, sql.fragment` UNION ALL `)}`;
}

/** The values of the key of a `record` of a table, its `subject`. */
const keyOfRecord = sql.fragment`CASE subject ${sql.join(
  Object.entries(recordedTables).map(
    ([table, key]) => sql.fragment`
      WHEN ${sql.literalValue(table)} THEN ARRAY[${sql.join(
        key.map((column) => sql.fragment`record ->> ${sql.literalValue(column)}`),
        sql.fragment`, `,
      )}]`,
  ),
  sql.fragment` `,
)} END`;

/** Those of them whose rows never change and are never removed. */
const appendOnlyTables = ["asset_rules", "period_closes", "wallet_digest_completions"];

/** Acts that can't have been: what is there is made again, what is not there is changed, what never changes is. */
export function listImpossibleActs(
  connection: Connection,
  scope: ActsScope,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH acts AS (
      SELECT *, coalesce(lag(kind) OVER (PARTITION BY subject, key ORDER BY number), 'removed')
                  <> 'removed' AS "wasThere"
        FROM (${actsIn(scope)}) AS acts
    )
    SELECT 'act ' || number AS where,
           kind || ' ' || subject || ' ' || coalesce(array_to_string(key, ' ', '-'), '')
             || CASE WHEN kind = 'made' THEN ', which was there'
                     WHEN NOT "wasThere" THEN ', which was not there'
                     ELSE ', where nothing ever changes' END AS what,
           count(*) OVER () AS total
      FROM acts
     WHERE (kind = 'made' AND "wasThere")
        OR (kind IN ('changed', 'removed')
            AND (NOT "wasThere" OR subject = ANY (${sql.array(appendOnlyTables, "text")})))
     ORDER BY number LIMIT 20`);
}

/**
 * A row that is `stored` without the columns that came after the last of its `acts` and have no value: a column that nothing
 * was written to since it was made says nothing.
 */
const asRecorded = sql.fragment`(
  SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(stored.record)
   WHERE value <> 'null' OR acts.record ? key)`;

/** Rows that are not as the last act about them left them. */
export function listUnrecordedRows(
  connection: Connection,
  scope: ActsScope,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH stored AS (
      SELECT subject, ${keyOfRecord} AS key, record FROM (${rowsIn(scope)}) AS records
    ), acts AS (
      SELECT DISTINCT ON (subject, key) * FROM (${actsIn(scope)}) AS acts
       ORDER BY subject, key, number DESC
    ), compared AS (
      SELECT coalesce(stored.subject, acts.subject) AS subject, coalesce(stored.key, acts.key) AS key,
             CASE
               WHEN acts.key IS NULL OR (acts.kind = 'removed' AND stored.key IS NOT NULL)
               THEN 'is there and no act made it'
               WHEN stored.key IS NULL AND acts.kind <> 'removed'
               THEN 'is not there, but act ' || acts.number || ' left it there'
               WHEN acts.kind <> 'removed' AND ${asRecorded}::text <> acts.record::text
               THEN 'is not as act ' || acts.number || ' left it: another ' || (
                      SELECT string_agg(name, ', ' ORDER BY name)
                        FROM (SELECT jsonb_object_keys(${asRecorded} || acts.record)) AS names (name)
                       WHERE (stored.record -> name)::text
                             IS DISTINCT FROM (acts.record -> name)::text)
             END AS what
        FROM stored FULL JOIN acts ON acts.subject = stored.subject AND acts.key = stored.key
    )
    SELECT subject || ' ' || coalesce(array_to_string(key, ' ', '-'), '') AS where, what,
           count(*) OVER () AS total
      FROM compared WHERE what IS NOT NULL ORDER BY 1 LIMIT 20`);
}

// Loading the rows of a backup into a database that has none: all of them in one transaction.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import * as z from "zod";
import { messageOf } from "../../core/thrown.ts";
import { isRowRefused } from "../database/errors.ts";
import { anyRows, oneRow } from "../database/single-client.ts";
import { command, sql } from "../database/statement.ts";
import { listAppliedMigrations, migrationsTable } from "../migrate.ts";
import { withCopySession } from "./session.ts";
import {
  copyTarget,
  hasSchema,
  listTables,
  qualifiedName,
  type BackupSequence,
  type BackupTable,
} from "./tables.ts";

/** The database can't take a backup: it has rows, or tables of another version. */
export class UnfitDatabase extends Error {
  override readonly name = "UnfitDatabase";
}

/** The database refuses rows of a table: they have other types than its columns, or break its constraints. */
export class RefusedRows extends Error {
  constructor(table: string, cause: unknown) {
    super(`the database refuses rows of its table ${table}: ${messageOf(cause)}`, { cause });
    this.name = "RefusedRows";
  }
}

/** What receives the rows, table by table. */
export interface Loading {
  /** Resolves with how many rows were loaded. `rows` is COPY's text format. */
  readonly copyRows: (
    table: string,
    columns: readonly string[],
    rows: AsyncIterable<Buffer>,
  ) => Promise<number>;
}

/** Throws UnfitDatabase where a table has rows that count, DistributedDatabase on a node of Citus. Changes nothing. */
export function requireEmptyDatabase(databaseUrl: string): Promise<void> {
  return withCopySession(databaseUrl, "restore", async (client) => {
    await hasSchema(client);
    await requireNoRows(client, await listTables(client));
  });
}

/**
 * Runs `work` in a transaction with the tables locked, their triggers off and their own rows gone; it is committed when
 * `work` resolves, and leaves nothing when it rejects. The database must have exactly these migrations and tables.
 * Throws RefusedRows where rows break its constraints.
 */
export function loadTables(
  databaseUrl: string,
  expected: {
    readonly migrations: readonly string[];
    readonly tables: readonly string[];
    /** Why the logs of the restored ledgers are halted. */
    readonly haltReason: string;
  },
  work: (loading: Loading) => Promise<readonly BackupSequence[]>,
): Promise<void> {
  return withCopySession(databaseUrl, "restore", async (client) => {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    const tables = await lockTables(client, expected.migrations);
    const unknown = expected.tables.filter((name) => !tables.some((table) => table.name === name));
    if (unknown.length > 0) {
      throw new UnfitDatabase(
        `the backup has tables that ledgerctl does not make (${unknown.join(", ")}): make them first, without rows`,
      );
    }
    await requireNoRows(client, tables);
    const triggers = await listTriggers(client, tables);
    for (const { table, name } of triggers)
      await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${name}`);
    // A migration may have made rows.
    await client.query(`TRUNCATE ${tables.map(qualifiedName).join(", ")}`);
    const sequences = await work({
      copyRows: (name, columns, rows) =>
        copyRows(client, requireTable(tables, name), columns, rows),
    });
    await setSequences(client, sequences);
    for (const { table, name, enable } of triggers) {
      await client.query(`ALTER TABLE ${table} ${enable} TRIGGER ${name}`);
    }
    // With the rows: a restore that is ended behind them must leave no log that goes on.
    if (tables.some(({ name }) => name === "log_states"))
      await haltLogs(client, expected.haltReason);
    if (tables.some(({ name }) => name === "deliveries")) await pauseDeliveries(client);
    await client.query("COMMIT");
  });
}

/** Receivers may have had events that are not there any more, and would get others in their place. */
async function pauseDeliveries(client: Client): Promise<void> {
  await anyRows(
    client,
    command`
      UPDATE deliveries SET status = 'paused', pause_reason = 'restored' WHERE status = 'active'`,
  );
}

/** Halts the logs of a backup that is older than they are, after the migrations. Others are halted as they are loaded. */
export function haltRestoredLogs(databaseUrl: string, reason: string): Promise<void> {
  return withCopySession(databaseUrl, "restore", (client) => haltLogs(client, reason));
}

/**
 * Halts both logs of every ledger, also of those that have no checkpoint yet: more may have been shown of them than was in the
 * backup. An operator resumes them or begins them anew.
 */
async function haltLogs(client: Client, reason: string): Promise<void> {
  await anyRows(
    client,
    command`
      INSERT INTO log_states
        (ledger_id, log, generation, system_identifier, timeline, halted_at, halt_reason)
      SELECT ledger_id, log, 1, '', '', statement_timestamp(), ${reason}
        FROM ledgers CROSS JOIN unnest(ARRAY['journal', 'closes']) AS logs (log)
      ON CONFLICT (ledger_id, log) DO UPDATE
         SET halted_at = EXCLUDED.halted_at, halt_reason = EXCLUDED.halt_reason`,
  );
}

/** Nobody migrates or writes from now on. */
async function lockTables(
  client: Client,
  migrations: readonly string[],
): Promise<readonly BackupTable[]> {
  await client.query(`LOCK TABLE ${migrationsTable} IN SHARE MODE`);
  if (JSON.stringify(await listAppliedMigrations(client)) !== JSON.stringify(migrations)) {
    throw new UnfitDatabase("the database has other migrations than the backup");
  }
  const tables = await listTables(client);
  const names = tables.map(qualifiedName).join(", ");
  await client.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
  return tables;
}

/** A server that runs on an empty database writes to it: its rows say nothing. */
const probesTable = "commit_probes";

const existsRow = z.object({ exists: z.boolean() });

async function requireNoRows(client: Client, tables: readonly BackupTable[]): Promise<void> {
  for (const { schema, name } of tables) {
    if (name === probesTable) continue;
    const { exists } = await oneRow(
      client,
      sql.type(existsRow)`SELECT EXISTS (SELECT FROM ${sql.identifier([schema, name])}) AS exists`,
    );
    if (exists) throw new UnfitDatabase(`the database is not empty: its table ${name} has rows`);
  }
}

const triggerRow = z.object({ table: z.string(), name: z.string(), enable: z.string() });

/** Triggers that would fire, and how each is switched on again. Those of foreign keys stay on. */
async function listTriggers(client: Client, tables: readonly BackupTable[]) {
  const names = sql.array(tables.map(qualifiedName), "text");
  return anyRows(
    client,
    sql.type(triggerRow)`
    SELECT tgrelid::regclass::text AS table, quote_ident(tgname) AS name,
           CASE tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END AS enable
      FROM pg_trigger
     WHERE tgrelid = ANY (${names}::regclass[]) AND NOT tgisinternal AND tgenabled IN ('O', 'A')
     ORDER BY tgrelid, tgname`,
  );
}

async function copyRows(
  client: Client,
  table: BackupTable,
  columns: readonly string[],
  rows: AsyncIterable<Buffer>,
): Promise<number> {
  const missing = columns.filter((column) => !table.columns.includes(column));
  if (missing.length > 0) {
    throw new UnfitDatabase(`the table ${table.name} has no column ${missing.join(", ")}`);
  }
  const copy = client.query(copyFrom(`COPY ${copyTarget(table, columns)} FROM STDIN`));
  try {
    await pipeline(Readable.from(rows, { objectMode: false }), copy);
  } catch (error) {
    throw isRowRefused(error) ? new RefusedRows(table.name, error) : error;
  }
  return copy.rowCount;
}

function requireTable(tables: readonly BackupTable[], name: string): BackupTable {
  const table = tables.find((each) => each.name === name);
  if (table === undefined) throw new UnfitDatabase(`the database has no table ${name}`);
  return table;
}

const settingRow = z.object({ setting: z.string() });

async function setSequences(client: Client, sequences: readonly BackupSequence[]): Promise<void> {
  for (const { name, lastValue } of sequences) {
    await anyRows(
      client,
      sql.type(settingRow)`
      SELECT setval(quote_ident(${name})::regclass, ${lastValue}::bigint)::text AS setting`,
    );
  }
}

// The database as it is at one moment, to be copied while writes go on.
import type { Readable } from "node:stream";
import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import * as z from "zod";
import type { Timestamp } from "../../core/time.ts";
import { timestampColumn } from "../columns.ts";
import { oneRow } from "../database/single-client.ts";
import { sql } from "../database/statement.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { listAppliedMigrations, migrationsTable } from "../migrate.ts";
import { withCopySession } from "./session.ts";
import {
  copyTarget,
  hasSchema,
  listSequences,
  listTables,
  qualifiedName,
  type BackupSequence,
  type BackupTable,
} from "./tables.ts";

/** How often the tables are looked at again because a migration changed them. */
const attemptsMax = 5;

const headRow = z.object({
  /** When the transaction began: whatever was committed before is in the snapshot. */
  takenAt: timestampColumn,
  postgresql: z.string(),
});

export interface Snapshot {
  readonly takenAt: Timestamp;
  /** The version of the database, such as 18.4. */
  readonly postgresql: string;
  /** Names of the migrations that were applied, in order. */
  readonly migrations: readonly string[];
  readonly tables: readonly BackupTable[];
  /** The rows of a table in COPY's text format, which all versions of PostgreSQL share; a row is a line. */
  copyRows(table: BackupTable): AsyncIterable<Buffer>;
  /** To be called after the rows were copied. */
  listSequences(): Promise<readonly BackupSequence[]>;
}

/** Runs `work` with a snapshot. Writes go on; only migrations that change a table wait until it is over. */
export function withSnapshot<Result>(
  databaseUrl: string,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return withCopySession(databaseUrl, "backup", async (client) => {
    if (!(await hasSchema(client))) {
      throw new DatabaseUnavailable(
        "the database has none of ledgerctl's tables, so there is nothing to back up: is it the right one?",
      );
    }
    return work(await begin(client));
  });
}

/** Locks the tables against migrations, then takes the snapshot. */
async function begin(client: Client): Promise<Snapshot> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const seen = await listTables(client);
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const names = [migrationsTable, ...seen.map(qualifiedName)];
    // LOCK takes no snapshot: the next statement does.
    await client.query(`LOCK TABLE ${names.join(", ")} IN ACCESS SHARE MODE`);
    const tables = await listTables(client);
    if (isSame(seen, tables)) return describe(client, tables);
    await client.query("ROLLBACK");
  }
  throw new DatabaseUnavailable("the tables keep changing: try again when migrations are over");
}

function isSame(seen: readonly BackupTable[], tables: readonly BackupTable[]): boolean {
  const shape = (all: readonly BackupTable[]) =>
    JSON.stringify(all.map(({ schema, name, columns }) => [schema, name, columns]));
  return shape(seen) === shape(tables);
}

async function describe(client: Client, tables: readonly BackupTable[]): Promise<Snapshot> {
  // One that can't be read is told before hours of copying, and not after them.
  await listSequences(client);
  const head = await oneRow(
    client,
    sql.type(headRow)`
    SELECT now() AS "takenAt", current_setting('server_version') AS postgresql`,
  );
  return {
    ...head,
    migrations: await listAppliedMigrations(client),
    tables,
    copyRows: (table) => copyRows(client, table),
    listSequences: () => listSequences(client),
  };
}

async function* copyRows(client: Client, table: BackupTable): AsyncGenerator<Buffer> {
  const stream: Readable = client.query(
    copyTo(`COPY ${copyTarget(table, table.columns)} TO STDOUT`),
  );
  yield* stream as AsyncIterable<Buffer>;
}

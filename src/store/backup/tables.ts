// What a backup is made of, found in PostgreSQL's catalog, so that a table that a migration adds is in it.
import { escapeIdentifier, type Client } from "pg";
import * as z from "zod";
import { anyRows, oneRow } from "../database/single-client.ts";
import { sql } from "../database/statement.ts";
import { migrationsTable } from "../migrate.ts";

/** Where our tables are: in the schema of the table of migrations, or where that would be made. */
const schemaOid = sql.fragment`
  coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass(${migrationsTable})),
           to_regnamespace(quote_ident(current_schema()))::oid)`;

const tableRow = z.object({
  schema: z.string(),
  name: z.string(),
  /** In their order; generated columns are computed, not copied. */
  columns: z.array(z.string()),
  /** Tables that its foreign keys refer to. */
  refersTo: z.array(z.string()),
  /** Rows, as ANALYZE counted them; null before the first time. */
  rowsEstimate: z.number().nullable(),
});

export type BackupTable = z.infer<typeof tableRow>;

/**
 * All tables but that of migrations, each behind those that its foreign keys refer to. Tables of extensions are not
 * ours.
 */
export async function listTables(client: Client): Promise<readonly BackupTable[]> {
  const tables = await anyRows(
    client,
    sql.type(tableRow)`
    SELECT nspname AS schema, relname AS name,
           to_json(ARRAY(SELECT attname::text FROM pg_attribute
                          WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
                          ORDER BY attnum)) AS columns,
           to_json(ARRAY(SELECT DISTINCT target.relname::text
                           FROM pg_constraint JOIN pg_class AS target ON target.oid = confrelid
                          WHERE conrelid = class.oid AND contype = 'f' AND confrelid <> conrelid)) AS "refersTo",
           CASE WHEN reltuples < 0 THEN NULL ELSE reltuples::float8 END AS "rowsEstimate"
      FROM pg_class AS class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relnamespace = ${schemaOid} AND relkind = 'r' AND relname <> ${migrationsTable}
       AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype = 'e')
     ORDER BY relname COLLATE "C"`,
  );
  return inOrderOfReferences(tables);
}

/** Each table behind those that it refers to, otherwise as they came. */
export function inOrderOfReferences<Table extends Pick<BackupTable, "name" | "refersTo">>(
  tables: readonly Table[],
): readonly Table[] {
  const ordered: Table[] = [];
  let waiting = [...tables];
  while (waiting.length > 0) {
    const isReady = ({ refersTo }: Table) => !waiting.some(({ name }) => refersTo.includes(name));
    const ready = waiting.filter(isReady);
    if (ready.length === 0)
      throw new Error("foreign keys of tables refer to each other in a circle");
    ordered.push(...ready);
    waiting = waiting.filter((table) => !ready.includes(table));
  }
  return ordered;
}

const sequenceRow = z.object({
  schema: z.string(),
  name: z.string(),
  isReadable: z.boolean(),
  /** Null where no number was taken from it. */
  lastValue: z.string().nullable(),
});

/** A sequence that numbers were taken from, and the last one. */
export interface BackupSequence {
  readonly name: string;
  readonly lastValue: string;
}

/** The role may not read a sequence, so that a restored table would be numbered from its beginning again. */
export class UnreadableSequence extends Error {
  constructor(sequence: { readonly schema: string; readonly name: string }) {
    super(
      `the role may not read the sequence ${sequence.name}: as its owner, ` +
        `GRANT SELECT ON SEQUENCE ${qualifiedName(sequence)} TO the role`,
    );
    this.name = "UnreadableSequence";
  }
}

/**
 * All sequences but that of the table of migrations, which a restore numbers itself. Sequences aren't part of any
 * snapshot: what is read after a table's rows is never below what they hold. Throws UnreadableSequence.
 */
export async function listSequences(client: Client): Promise<readonly BackupSequence[]> {
  // CASE has the privilege looked at first: without it PostgreSQL 15 and 16 fail, and later ones give no value.
  const sequences = await anyRows(
    client,
    sql.type(sequenceRow)`
    SELECT nspname AS schema, relname AS name, has_sequence_privilege(seqrelid, 'SELECT') AS "isReadable",
           CASE WHEN has_sequence_privilege(seqrelid, 'SELECT')
                THEN pg_sequence_last_value(seqrelid)::text END AS "lastValue"
      FROM pg_sequence JOIN pg_class AS class ON class.oid = seqrelid
      JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relnamespace = ${schemaOid}
       AND NOT EXISTS (SELECT FROM pg_depend
                        WHERE classid = 'pg_class'::regclass AND objid = seqrelid
                          AND refobjid = to_regclass(${migrationsTable}))
     ORDER BY relname COLLATE "C"`,
  );
  return sequences.flatMap((sequence) => {
    const { name, isReadable, lastValue } = sequence;
    if (!isReadable) throw new UnreadableSequence(sequence);
    return lastValue === null ? [] : [{ name, lastValue }];
  });
}

const presenceRow = z.object({ hasSchema: z.boolean(), isDistributed: z.boolean() });

/** The database is spread over machines by Citus, where no session sees all of it at one moment. */
export class DistributedDatabase extends Error {
  override readonly name = "DistributedDatabase";
}

/** Whether any migration was ever applied here. Throws DistributedDatabase on a node of Citus. */
export async function hasSchema(client: Client): Promise<boolean> {
  const found = await oneRow(
    client,
    sql.type(presenceRow)`
    SELECT to_regclass(${migrationsTable}) IS NOT NULL AS "hasSchema",
           to_regclass('pg_dist_node') IS NOT NULL AS "isDistributed"`,
  );
  if (found.isDistributed) throw new DistributedDatabase();
  return found.hasSchema;
}

/** A table's name with its schema, as it stands in a statement. */
export function qualifiedName({ schema, name }: Pick<BackupTable, "schema" | "name">): string {
  return `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
}

/** A table with columns, as it stands in COPY. */
export function copyTarget(table: BackupTable, columns: readonly string[]): string {
  return `${qualifiedName(table)} (${columns.map((column) => escapeIdentifier(column)).join(", ")})`;
}

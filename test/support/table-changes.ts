// Every change of a row that a database of ours lets somebody make who is past its triggers and foreign keys: each
// column with other values of its type, each row deleted, rows added. Read from the catalog, so that new columns and
// tables are in it.
import * as z from "zod";
import type { Connection } from "../../src/store/database/connection.ts";
import { sql } from "../../src/store/database/statement.ts";

export interface TableChange {
  /** `table.column`, or the table of a row that is deleted or added. */
  readonly place: string;
  readonly what: string;
  /** How many changes of the same place and kind are worth trying. */
  readonly trials: { readonly kind: string; readonly max: number };
  /** Gives a row for each row that it changes. */
  readonly statement: string;
}

/** A statement from its text. */
function raw<Row extends z.ZodType>(row: Row, text: string) {
  return sql.type(row)(Object.assign([text], { raw: Object.freeze([text]) }));
}

const columnRow = z.object({
  table: z.string(),
  column: z.string(),
  type: z.string(),
  isNullable: z.boolean(),
  isUnique: z.boolean(),
  /** Words that checks of the table name. */
  words: z.array(z.string()),
});
type Column = z.output<typeof columnRow>;

const columnsQuery = `
  SELECT relname AS table, attname AS column, format_type(atttypid, atttypmod) AS type,
         NOT attnotnull AS "isNullable",
         EXISTS (SELECT 1 FROM pg_index
                  WHERE indrelid = attrelid AND indisunique AND attnum = ANY (indkey))
           AS "isUnique",
         to_json(ARRAY(
           SELECT DISTINCT word[1] FROM pg_constraint,
                  regexp_matches(pg_get_constraintdef(pg_constraint.oid), '''([a-z]+)''::text', 'g') AS word
            WHERE conrelid = attrelid AND contype = 'c' AND attnum = ANY (conkey))) AS words
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
   WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
     AND attnum > 0 AND NOT attisdropped
   ORDER BY relname, attnum`;

/** Other values of a column, as expressions on its row `t`. */
function othersOf({ table, column, type, isNullable, words }: Column): string[] {
  const c = `t."${column}"`;
  const ofAnotherRow = `(SELECT "${column}" FROM "${table}" AS o WHERE o."${column}" <> ${c} LIMIT 1)`;
  const byType: Record<string, string[]> = {
    uuid: ["gen_random_uuid()", ofAnotherRow],
    text: [`coalesce(${c}, '') || 'x'`, ofAnotherRow, ...words.map((word) => `'${word}'`)],
    "character varying(255)": [`${c} || 'x'`],
    boolean: [`NOT ${c}`],
    smallint: [`coalesce(${c}, 0) + 1`],
    integer: [`coalesce(${c}, 0) + 1`, `${c} - 1`],
    bigint: [`coalesce(${c}, 0) + 1`, `${c} - 1`],
    numeric: [`coalesce(${c}, 0) + 1`],
    "double precision": [`coalesce(${c}, 0) + 0.5`],
    date: [`${c} + 1`, `${c} - 1`],
    "timestamp with time zone": [
      `coalesce(${c}, now()) + interval '1 day'`,
      `${c} + interval '1 microsecond'`,
    ],
    "timestamp without time zone": [`${c} + interval '1 day'`],
    jsonb: [`${c} || '{"x": 1}'`],
    bytea: [
      `set_byte(coalesce(${c}, sha256('')), 0, (get_byte(coalesce(${c}, sha256('')), 0) + 1) % 256)`,
    ],
    "text[]": [`array_append(${c}, 'x')`, `${c}[2:]`],
    "uuid[]": [`array_append(${c}, ${c}[1])`, `array_append(${c}[2:], gen_random_uuid())`],
    "timestamp with time zone[]": [
      `array_append(${c}, ${c}[1])`,
      `array_append(${c}[2:], ${c}[1] + interval '1 hour')`,
    ],
    "smallint[]": [`array_append(${c}, ${c}[1])`, `array_append(${c}[2:], ${c}[1] + 1::smallint)`],
    "boolean[]": [`array_append(${c}, ${c}[1])`, `array_append(${c}[2:], NOT ${c}[1])`],
    "numeric[]": [`array_append(${c}, ${c}[1])`, `array_append(${c}[2:], ${c}[1] + 1)`],
    "bigint[]": [`array_append(${c}, ${c}[1])`, `array_append(${c}[2:], ${c}[1] + 1)`],
  };
  const others = byType[type];
  if (others === undefined) throw new Error(`no other values for ${type} (${table}.${column})`);
  return isNullable ? [...others, "NULL"] : others;
}

/** A value that no row has, for keys of added rows. */
function freshOf(column: Column): string {
  const isCounted = /^(smallint|integer|bigint)$/.test(column.type);
  if (isCounted) return `(SELECT max("${column.column}") + 1 FROM "${column.table}")`;
  return othersOf(column)[0] ?? "NULL";
}

/** So many rows of a table are looked at. */
const rowsMax = 4;

/** Every change, of tables that have rows; `emptyTables` have none. */
export async function listTableChanges(
  connection: Connection,
): Promise<{ readonly changes: readonly TableChange[]; readonly emptyTables: readonly string[] }> {
  const columns = await connection.any(raw(columnRow, columnsQuery));
  const changes: TableChange[] = [];
  const emptyTables: string[] = [];
  for (const table of new Set(columns.map((column) => column.table))) {
    const text = `SELECT ctid::text AS place FROM "${table}" ORDER BY ctid LIMIT ${rowsMax}`;
    const rows = await connection.any(raw(z.object({ place: z.string() }), text));
    if (rows.length === 0) emptyTables.push(table);
    const own = columns.filter((column) => column.table === table);
    const places = rows.map(({ place }) => place);
    changes.push(...own.flatMap((column) => updatesOf(column, places)));
    changes.push(...places.flatMap((place) => rowChangesOf(table, own, place)));
  }
  return { changes, emptyTables };
}

/** Changes of a column: each value in another row, then in the rows after them. */
function updatesOf(column: Column, rows: readonly string[]): TableChange[] {
  const place = `${column.table}.${column.column}`;
  // Texts may be words of several states, and times finer than is shown.
  const trials = { kind: place, max: /^t/.test(column.type) ? 2 : 1 };
  return rows.flatMap((_, offset) =>
    othersOf(column).map((other, index) => {
      const row = rows[(index + offset) % rows.length] ?? "";
      return {
        ...{ place, trials },
        what: `becomes ${other} in the row at ${row}`,
        statement: `UPDATE "${column.table}" AS t SET "${column.column}" = ${other}
           WHERE t.ctid = '${row}' AND t."${column.column}" IS DISTINCT FROM ${other} RETURNING 1 AS done`,
      };
    }),
  );
}

function rowChangesOf(table: string, columns: readonly Column[], row: string): TableChange[] {
  const from = `"${table}" AS t WHERE t.ctid = '${row}'`;
  const added = { place: table, trials: { kind: `${table} added`, max: 2 } };
  const unique = columns.filter(({ isUnique }) => isUnique);
  const isKept = ({ column }: Column) => column === "ledger_id";
  const another = insertOf(table, columns, from, (column) => column.isUnique && !isKept(column));
  return [
    {
      ...{ place: table, trials: { kind: `${table} deleted`, max: 2 } },
      what: `without the row at ${row}`,
      statement: `DELETE FROM ${from} RETURNING 1 AS done`,
    },
    { ...added, what: `with another row like that at ${row}`, statement: another },
    ...unique.map((varied) => ({
      ...added,
      what: `with another row like that at ${row}, but for ${varied.column}`,
      statement: insertOf(table, columns, from, (column) => column === varied),
    })),
  ];
}

/** A copy of a row with other values in some columns. */
function insertOf(
  table: string,
  columns: readonly Column[],
  from: string,
  isFresh: (column: Column) => boolean,
): string {
  const names = columns.map(({ column }) => `"${column}"`).join(", ");
  const values = columns.map((each) => (isFresh(each) ? freshOf(each) : `t."${each.column}"`));
  return `INSERT INTO "${table}" (${names}) OVERRIDING SYSTEM VALUE
          SELECT ${values.join(", ")} FROM ${from} RETURNING 1 AS done`;
}

const doneRow = z.object({ done: z.number() });

/**
 * Makes a change within a transaction, runs `work`, and undoes the change. False, without `work`, where the database
 * takes no such value, or it is what is there.
 */
export async function whileChanged(
  transaction: Connection,
  change: TableChange,
  work: () => Promise<void>,
): Promise<boolean> {
  await runText(transaction, "SAVEPOINT before_change");
  const isMade = await transaction.any(raw(doneRow, change.statement)).then(
    (rows) => rows.length > 0,
    (error: unknown) => {
      // Constraints stay on: what they refuse can't be there.
      if (/^(22|23)/.test((error as { code?: string }).code ?? "")) return false;
      throw error;
    },
  );
  if (isMade) await work();
  await runText(transaction, "ROLLBACK TO SAVEPOINT before_change");
  await runText(transaction, "RELEASE SAVEPOINT before_change");
  return isMade;
}

/** Turns triggers and foreign keys off until the transaction ends. */
export async function passTriggers(transaction: Connection): Promise<void> {
  await runText(transaction, "SET LOCAL session_replication_role = replica");
}

/** Runs a statement that gives no rows. */
export async function runText(connection: Connection, text: string): Promise<void> {
  await connection.any(raw(z.never(), text));
}

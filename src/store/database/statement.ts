// The one kind of statement: slonik's `sql` makes it, with its values apart from its text and the schema of
// its rows.
import { createHash } from "node:crypto";
import {
  createSqlTag,
  type ArraySqlToken,
  type FragmentSqlToken,
  type PrimitiveValueExpression,
  type QuerySqlToken,
  type ValueExpression,
} from "@slonik/sql-tag";
import * as z from "zod";

/** A text with placeholders, its values, and the schema that each of its rows has to meet. */
export type Statement<Row extends z.ZodType = z.ZodType> = QuerySqlToken<Row>;

const slonik = createSqlTag();

/** A statement without its values, and the kinds of those that its text holds for. */
interface KeptText {
  readonly statement: Statement;
  readonly kinds: readonly unknown[];
}

const keptTexts = new WeakMap<TemplateStringsArray, KeptText>();

/**
 * slonik's tag: `sql.type(rowSchema)` makes a statement, `sql.fragment` a part of one. What slonik made of a template
 * is kept, and made anew where a value is of another kind. Made at each call, it was 8 % of a wallet write's CPU time.
 */
export const sql = {
  ...slonik,
  type: <Row extends z.ZodType>(rowSchema: Row) => {
    const make = slonik.type(rowSchema);
    return (template: TemplateStringsArray, ...members: ValueExpression[]): Statement<Row> => {
      const kept = keptTexts.get(template);
      if (kept?.kinds.every((kind, index) => kind === kindOf(members[index])) === true) {
        return { ...kept.statement, parser: rowSchema, values: members.flatMap(valuesOf) };
      }
      const statement = make(template, ...members);
      const kinds = members.map(kindOf);
      keptTexts.set(template, { statement: { ...statement, values: [] }, kinds });
      return statement;
    };
  },
};

/** Equal for members of a template that make the same text. */
function kindOf(member: ValueExpression | undefined): unknown {
  if (member === undefined) return undefined;
  if (member === null || typeof member !== "object") return null;
  if ("memberType" in member) return member.memberType;
  // Nothing else that slonik knows is equal to anything.
  return "sql" in member ? member.sql : Symbol();
}

/** The parameters of a member; an array is one. */
function valuesOf(member: ValueExpression): readonly PrimitiveValueExpression[] {
  if (member !== null && typeof member === "object") {
    if ("memberType" in member) return [member.values];
    if ("sql" in member) return member.values;
  }
  return [member as PrimitiveValueExpression];
}

/** A statement that is run for its effect: it gives no rows. */
export const command = sql.type(z.never());

/** What the database is sent of a statement besides its values. */
export interface QueryText {
  /**
   * The name under which a connection prepares it. Made from the text, so that no two programs behind one pooler
   * mean different statements by one name.
   */
  readonly name: string;
  /** The text with PostgreSQL's own placeholders ($1). */
  readonly text: string;
}

/** By slonik's text. A program has a bounded number of them: values are never part of a text. */
const queryTexts = new Map<string, QueryText>();

/** The text of a statement as PostgreSQL reads it, with the name that goes with it. */
export function queryText(statement: Statement): QueryText {
  const made = queryTexts.get(statement.sql);
  if (made !== undefined) return made;
  // slonik itself does the same before it hands a statement to its driver.
  const text = statement.sql.replaceAll("$slonik_", "$");
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const query = { name, text };
  queryTexts.set(statement.sql, query);
  return query;
}

/**
 * One member of many rows as an array parameter, for `unnest`. `type` is PostgreSQL's name of the members' type:
 * text, uuid, numeric, int8, timestamptz …
 */
export function column<Row>(
  rows: readonly Row[],
  member: (row: Row) => PrimitiveValueExpression,
  type: string,
): ArraySqlToken {
  return sql.array(rows.map(member), type);
}

/** Each number of them is a text of its own, with a plan of its own. */
const fewMax = 4;

/**
 * Whether rows are so few that a statement on one table with their values is best: it is planned in half the time of one with
 * arrays. Of one row, a node of Citus also keeps the plan (docs/decisions/0020).
 */
export function isFew(rows: readonly unknown[]): boolean {
  return rows.length > 0 && rows.length <= fewMax;
}

/** The columns of new rows by name, each from `column` or an array. */
export type NewColumns = Readonly<Record<string, ArraySqlToken>>;

const newRowsTexts = new Map<string, string>();

/**
 * What follows the table's name in an INSERT into a ledger's table: the names of the ledger's id and of `columns`, and where their
 * rows come from. A few are listed. Many come as arrays; Citus then wants the ledger's id from a table. Of arrays, a column
 * without a value is left out (so none that may be null has a default), and a time that all rows share is sent once: reading
 * them took a tenth of a large INSERT.
 */
export function newRows(ledgerId: string, columns: NewColumns): FragmentSqlToken {
  const all = Object.entries(columns);
  const rows = all[0]?.[1].values ?? [];
  const isListed = isFew(rows);
  const sent = isListed ? all : all.filter(([, { values }]) => !isEmpty(values));
  const shared = isListed ? [] : sent.filter(([, each]) => isSharedTime(each));
  const each = sent.filter((entry) => !shared.includes(entry));
  const key = [isListed ? rows.length : "arrays", ...[each, shared].map(namesAndTypes)].join(" ");
  const text = newRowsTexts.get(key) ?? newRowsText(each, shared, isListed ? rows.length : null);
  newRowsTexts.set(key, text);
  const arrays = each.map(([, { values }]) => values);
  const values = isListed
    ? listRows(arrays, rows.length)
    : [...arrays, ...shared.map(([, times]) => times.values[0])];
  // The text is not slonik's, but the rest is.
  return { ...sql.fragment``, sql: text, values: [ledgerId, ...values] } as FragmentSqlToken;
}

function isEmpty(values: readonly unknown[]): boolean {
  return values.length > 0 && values.every((value) => value === null);
}

function isSharedTime({ memberType, values }: ArraySqlToken): boolean {
  const [first, ...others] = values;
  return memberType === "timestamptz" && others.length > 0 && others.every((at) => at === first);
}

type NamedColumn = readonly [name: string, array: ArraySqlToken];

function namesAndTypes(columns: readonly NamedColumn[]): string {
  return columns.map(([name, { memberType }]) => `${name} ${memberType as string}`).join();
}

/** Row by row. */
function listRows(arrays: readonly (readonly unknown[])[], count: number): unknown[] {
  return Array.from({ length: count }, (_, row) => arrays.map((values) => values[row])).flat();
}

/** `count`: of rows that are listed; null for arrays. */
function newRowsText(
  each: readonly NamedColumn[],
  shared: readonly NamedColumn[],
  count: number | null,
): string {
  const columns = [...each, ...shared];
  const names = `(ledger_id, ${columns.map(([name]) => name).join(", ")})`;
  if (count === null) {
    const parameters = columns.map(
      ([, { memberType }], index) => `$slonik_${index + 2}::${memberType as string}`,
    );
    const arrays = parameters.slice(0, each.length).map((parameter) => `${parameter}[]`);
    const selected = ["ledger.ledger_id", "new.*", ...parameters.slice(each.length)];
    return `${names}
      SELECT ${selected.join(", ")}
        FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = $slonik_1) AS ledger
        CROSS JOIN unnest(${arrays.join(", ")}) AS new`;
  }
  const rows = Array.from({ length: count }, (_, row) => {
    const values = columns.map((__, index) => `$slonik_${row * columns.length + index + 2}`);
    return `($slonik_1, ${values.join(", ")})`;
  });
  return `${names} VALUES ${rows.join(", ")}`;
}

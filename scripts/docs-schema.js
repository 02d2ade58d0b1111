// Prints docs/schema.md from a migrated database: node scripts/docs-schema.js DATABASE_URL > docs/schema.md
// What tables and columns mean is in the database's comments; a new migration changes them.
import { format } from "prettier";
import { Client } from "pg";

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error("usage: node scripts/docs-schema.js DATABASE_URL");

const tablesQuery = `
  SELECT oid, relname AS name, obj_description(oid, 'pg_class') AS comment
    FROM pg_class
   WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
   ORDER BY relname COLLATE "C"`;

const columnsQuery = `
  SELECT attribute.attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
         pg_get_expr(adbin, adrelid) AS "defaultValue", col_description(attribute.attrelid, attnum) AS comment
    FROM pg_attribute AS attribute
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
   WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
   ORDER BY attnum`;

// NOT NULL is in the columns: PostgreSQL 18 lists it among the constraints as well.
const rulesQuery = `
  SELECT name, definition FROM (
    SELECT conname AS name, pg_get_constraintdef(oid) AS definition,
           array_position('{p,u,f,c}', contype::text) AS rank
      FROM pg_constraint
     WHERE conrelid = $1 AND contype IN ('p', 'u', 'f', 'c')
     UNION ALL
    SELECT index.relname, regexp_replace(pg_get_indexdef(index.oid), ' INDEX .* USING', ' INDEX USING'), 5
      FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
     WHERE indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
     UNION ALL
    SELECT tgname, regexp_replace(pg_get_triggerdef(oid), '^CREATE (CONSTRAINT )?TRIGGER \\w+ | ON \\S+', '', 'g'), 6
      FROM pg_trigger
     WHERE tgrelid = $1 AND NOT tgisinternal
  ) AS rules
   ORDER BY rank, name COLLATE "C"`;

const functionsQuery = `
  SELECT proname AS name, obj_description(oid, 'pg_proc') AS comment
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
   ORDER BY proname COLLATE "C"`;

const header = `# Schema

The tables of the database, as \`migrations/\` make them. This page is generated (\`scripts/docs-schema.js\`); what it says
about tables and columns is also in the database, as comments (\`\\d+\` in psql).

- The primary key of every table of ledger data begins with \`ledger_id\`, and every statement names the ledger. So the schema
  can be distributed over machines by ledger.
- Codes, currencies and external ids are compared by their UTF-8 bytes (\`COLLATE "C"\`).
- Amounts are \`numeric\` without decimals, in smallest units. Debits are positive, credits negative.
- Tables whose rows never change have triggers that refuse UPDATE, DELETE and TRUNCATE for every role. The tables' owner can
  drop a trigger; [operations.md](operations.md#roles) shows how to serve with a role that can't.
- [operations.md](operations.md#what-an-audit-covers) says what an audit compares each table with.
- Lines have no foreign keys ([decision 3](decisions/0003-lines-have-no-foreign-keys.md)).
`;

const client = new Client({ connectionString: url });
await client.connect();
try {
  const parts = [header];
  for (const table of (await client.query(tablesQuery)).rows) parts.push(await describe(table));
  parts.push("## Functions\n");
  for (const { name, comment } of (await client.query(functionsQuery)).rows) {
    parts.push(`- \`${name}\`: ${comment}`);
  }
  process.stdout.write(await format(parts.join("\n"), { parser: "markdown", printWidth: 100 }));
} finally {
  await client.end();
}

async function describe({ oid, name, comment }) {
  const columns = (await client.query(columnsQuery, [oid])).rows.map((column) => {
    const isDefault = column.defaultValue === null ? "" : ` (default \`${column.defaultValue}\`)`;
    const type = `${column.type}${column.required ? "" : ", null"}`;
    return `| \`${column.name}\` | ${type}${isDefault} | ${column.comment ?? ""} |`;
  });
  const rules = (await client.query(rulesQuery, [oid])).rows.map(
    (rule) => `- \`${rule.name}\`: \`${rule.definition}\``,
  );
  return [
    `## ${name}\n`,
    `${comment}\n`,
    ...["| column | type | meaning |", "|---|---|---|", ...columns, ""],
    ...[...rules, ""],
  ].join("\n");
}

// All rows of a database, table by table, as PostgreSQL itself writes them: for comparing two databases.
import { Client } from "pg";

/** What is told of each database by itself: its migrations, what a running server commits to, and where logs stand. */
const ownTables = ["schema_migrations", "commit_probes", "log_states"];

/** An act that is about where a log stands: a restore halts them. */
const isAboutLogs = (row: string) => row.includes(",log_states,");

/** Each table's rows as text, sorted; of the tables that the database's own catalog lists, but for those left out. */
export async function readTables(
  databaseUrl: string,
  ...leftOut: readonly string[]
): Promise<Record<string, string[]>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET timezone = 'UTC'");
    const tables = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`,
    );
    const contents: Record<string, string[]> = {};
    for (const { name } of tables.rows) {
      if (ownTables.includes(name) || leftOut.includes(name)) continue;
      const { rows } = await client.query<{ row: string }>(
        `SELECT each::text AS row FROM ${client.escapeIdentifier(name)} AS each ORDER BY each::text COLLATE "C"`,
      );
      contents[name] = rows.map(({ row }) => row).filter((row) => !isAboutLogs(row));
    }
    return contents;
  } finally {
    await client.end();
  }
}

// Changes that only somebody with every right on the database can make: past triggers and keys.
import { Client } from "pg";
import type { TestBooks } from "./service.ts";

/** Tables that closes and wallets are stored in, with nothing that other tables have foreign keys to. */
const tables = [
  ...["journal_heads", "accounts", "journal_entries", "journal_lines", "journal_reversals"],
  ...["account_balances", "period_closes", "period_close_balances", "period_close_subtrees"],
  ...["asset_rules", "wallets", "wallet_writes", "wallet_holds", "wallet_batches"],
  ...["wallet_posting_totals", "wallet_postings", "wallet_log_digests", "administration_acts"],
];

/** On each node of a cluster, too; which is why each statement is sent by itself. */
async function beginWithoutTriggers(client: Client): Promise<void> {
  await client.query("BEGIN");
  await client.query("SET LOCAL citus.propagate_set_commands = local");
  await client.query("SET LOCAL session_replication_role = replica");
}

/** One for all changes of the same books: a connection that knows its tables is a lot quicker. Ends with the database. */
const connections = new WeakMap<object, Promise<Client>>();

function connect(books: Pick<TestBooks, "databaseUrl">): Promise<Client> {
  const open = async () => {
    const client = new Client({ connectionString: books.databaseUrl });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  const connection = connections.get(books) ?? open();
  connections.set(books, connection);
  return connection;
}

/**
 * Runs statements with triggers and foreign keys off; each must change something. Resolves with what puts
 * everything back.
 */
export async function tamper(
  books: Pick<TestBooks, "databaseUrl">,
  ...statements: readonly string[]
): Promise<() => Promise<void>> {
  const copy = (from: string, to: string) =>
    tables
      .map(
        (table) => `DELETE FROM ${to}.${table}; INSERT INTO ${to}.${table} TABLE ${from}.${table}`,
      )
      .join(";");
  const client = await connect(books);
  const { rowCount } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'pristine'");
  if (rowCount === 0) {
    const made = tables.map((table) => `CREATE TABLE pristine.${table} (LIKE public.${table})`);
    await client.query(`CREATE SCHEMA pristine; ${made.join(";")}`);
  }
  await client.query(copy("public", "pristine"));
  await forge(books, ...statements);
  return async () => {
    await beginWithoutTriggers(client);
    await client.query(copy("pristine", "public"));
    await client.query("COMMIT");
  };
}

/** Runs statements with triggers and foreign keys off; each must change something. */
export async function forge(
  books: Pick<TestBooks, "databaseUrl">,
  ...statements: readonly string[]
): Promise<void> {
  const client = await connect(books);
  await beginWithoutTriggers(client);
  for (const statement of statements) {
    const { rowCount } = await client.query(statement);
    if ((rowCount ?? 0) === 0) throw new Error(`nothing was changed by: ${statement}`);
  }
  await client.query("COMMIT");
}

/** A time a day before that of a column. Citus updates nothing by what depends on the time zone of a session. */
export const dayBefore = (column: string): string =>
  `(${column} AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC'`;

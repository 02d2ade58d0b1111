// Changes that only somebody with every right on the database can make: past triggers and keys.
import { Client } from "pg";
import type { TestBooks } from "./service.ts";

/** Tables that closes and wallets are stored in, with nothing that other tables have foreign keys to. */
const tables = [
  ...["journal_heads", "accounts", "journal_entries", "journal_lines", "journal_reversals"],
  ...["account_balances", "period_closes", "period_close_balances", "period_close_subtrees"],
  ...["asset_rules", "wallets", "wallet_writes", "wallet_holds", "wallet_batches"],
  ...["wallet_posting_totals", "wallet_postings"],
];

async function withSuperuser<Result>(
  books: Pick<TestBooks, "databaseUrl">,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: books.databaseUrl });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica");
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Runs statements with triggers and foreign keys off; each must change something. Resolves with what puts
 * everything back.
 */
export async function tamper(
  books: Pick<TestBooks, "databaseUrl">,
  ...statements: readonly string[]
): Promise<() => Promise<void>> {
  await withSuperuser(books, async (client) => {
    await client.query("DROP SCHEMA IF EXISTS pristine CASCADE; CREATE SCHEMA pristine");
    for (const table of tables) {
      await client.query(`CREATE TABLE pristine.${table} AS TABLE public.${table}`);
    }
  });
  await forge(books, ...statements);
  return () =>
    withSuperuser(books, async (client) => {
      await client.query("BEGIN");
      for (const table of tables) {
        await client.query(`DELETE FROM public.${table}`);
        await client.query(`INSERT INTO public.${table} TABLE pristine.${table}`);
      }
      await client.query("COMMIT");
    });
}

/** Runs statements with triggers and foreign keys off; each must change something. */
export async function forge(
  books: Pick<TestBooks, "databaseUrl">,
  ...statements: readonly string[]
): Promise<void> {
  await withSuperuser(books, async (client) => {
    for (const statement of statements) {
      const { rowCount } = await client.query(statement);
      if ((rowCount ?? 0) === 0) throw new Error(`nothing was changed by: ${statement}`);
    }
  });
}

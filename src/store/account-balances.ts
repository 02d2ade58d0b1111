// The balances of accounts, kept with every entry.
import * as z from "zod";
import type { BalanceChange } from "../core/journal.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const balanceRow = z.object({ balance: z.bigint(), entryCount: z.number() });

export type AccountBalance = z.infer<typeof balanceRow>;

/**
 * The balance of an account: of its lines in one transaction currency, or (null) of all of them in
 * functional currency. Null when nothing was ever posted to it.
 */
export async function findBalance(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string,
  currency: string | null,
): Promise<AccountBalance | null> {
  return connection.maybeOne(sql.type(balanceRow)`
    SELECT balance, entry_count AS "entryCount" FROM account_balances
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
       AND currency = ${currency ?? ""}`);
}

const currencyRow = z.object({ currency: z.string() });

/** Every transaction currency that a ledger's entries have, by its UTF-8 bytes. */
export async function listCurrencies(connection: Connection, ledgerId: string): Promise<string[]> {
  const rows = await connection.any(sql.type(currencyRow)`
    SELECT DISTINCT currency FROM account_balances
     WHERE ledger_id = ${ledgerId} AND currency <> '' ORDER BY currency`);
  return rows.map(({ currency }) => currency);
}

/** Adds to balances; the changes come sorted, so that two writers lock rows in one order. */
export function addToBalances(
  connection: Connection,
  ledgerId: string,
  changes: readonly BalanceChange[],
): Promise<unknown> {
  const currencies = changes.map(({ currency }) => currency ?? "");
  return connection.run(command`
    INSERT INTO account_balances AS held ${newRows(ledgerId, {
      gl_account_code: column(changes, ({ glAccountCode }) => glAccountCode, "text"),
      currency: sql.array(currencies, "text"),
      balance: column(changes, ({ amount }) => amount, "numeric"),
      entry_count: column(changes, ({ entryCount }) => entryCount, "int8"),
    })}
    ON CONFLICT (ledger_id, gl_account_code, currency) DO UPDATE
       SET balance = held.balance + EXCLUDED.balance,
           entry_count = held.entry_count + EXCLUDED.entry_count`);
}

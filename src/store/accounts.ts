// The chart of accounts and the balances of accounts.
import { sql } from "slonik";
import { z } from "zod";
import { accountTypes, type Account } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import type { ReadConnection } from "./read-pool.ts";

const accountRow = z.object({
  glAccountCode: z.string(),
  name: z.string(),
  type: z.enum(accountTypes).nullable(),
  active: z.boolean(),
});

const columns = sql.fragment`gl_account_code AS "glAccountCode", name, type, active`;

/** The chart of a ledger, by code in the order of its UTF-8 bytes. */
export async function listAccounts(
  pool: ReadConnection,
  ledgerId: string,
  activeOnly: boolean,
): Promise<readonly Account[]> {
  const filter = activeOnly ? sql.fragment`AND active` : sql.fragment``;
  return pool.any(sql.type(accountRow)`
    SELECT ${columns} FROM accounts WHERE ledger_id = ${ledgerId} ${filter}
     ORDER BY gl_account_code COLLATE "C"`);
}

/** null when the chart has no such account. */
export async function findAccount(
  pool: ReadConnection,
  ledgerId: string,
  glAccountCode: string,
): Promise<Account | null> {
  return pool.maybeOne(sql.type(accountRow)`
    SELECT ${columns} FROM accounts
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}`);
}

/**
 * Adds accounts; of one that exists, the name is updated, and type and active where they are given.
 * Returns how many are new, and how many are not what they were. Codes must not repeat.
 */
export async function upsertAccounts(
  pool: ReadConnection,
  ledgerId: string,
  accounts: readonly (Omit<Account, "active"> & { readonly active: boolean | null })[],
  createdAt: Timestamp,
): Promise<{ added: number; updated: number }> {
  const rows = accounts.map(({ glAccountCode, name, type, active }) => [
    glAccountCode,
    name,
    type,
    active,
  ]);
  const inserted = await pool.any(sql.type(z.object({ isNew: z.boolean() }))`
    WITH given AS (
      SELECT * FROM ${sql.unnest(rows, ["text", "text", "text", "bool"])}
        AS given (code, name, type, active)
    )
    INSERT INTO accounts AS held (ledger_id, gl_account_code, name, type, active, created_at)
    SELECT ${ledgerId}::uuid, code, name, type, coalesce(active, true), ${createdAt}::timestamptz
      FROM given ORDER BY code
    ON CONFLICT (ledger_id, gl_account_code) DO UPDATE
       SET name = EXCLUDED.name, type = coalesce(EXCLUDED.type, held.type),
           active = coalesce(
             (SELECT given.active FROM given WHERE given.code = EXCLUDED.gl_account_code),
             held.active)
     WHERE (held.name, held.type, held.active) IS DISTINCT FROM (
             EXCLUDED.name, coalesce(EXCLUDED.type, held.type),
             coalesce(
               (SELECT given.active FROM given WHERE given.code = EXCLUDED.gl_account_code),
               held.active))
    RETURNING (xmax = 0) AS "isNew"`);
  const added = inserted.filter(({ isNew }) => isNew).length;
  return { added, updated: inserted.length - added };
}

/** Adds one account; null when the code is taken. */
export async function insertAccount(
  pool: ReadConnection,
  ledgerId: string,
  account: Account,
  createdAt: Timestamp,
): Promise<Account | null> {
  return pool.maybeOne(sql.type(accountRow)`
    INSERT INTO accounts (ledger_id, gl_account_code, name, type, active, created_at)
    VALUES (${ledgerId}, ${account.glAccountCode}, ${account.name}, ${account.type},
            ${account.active}, ${createdAt})
    ON CONFLICT (ledger_id, gl_account_code) DO NOTHING
    RETURNING ${columns}`);
}

/** Switches an account on or off; null when there is no such account. */
export async function updateAccountActive(
  pool: ReadConnection,
  ledgerId: string,
  glAccountCode: string,
  active: boolean,
): Promise<Account | null> {
  return pool.maybeOne(sql.type(accountRow)`
    UPDATE accounts SET active = ${active}
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
    RETURNING ${columns}`);
}

/** Assets whose newest rule posts to an account. */
export async function listAssetsUsing(
  pool: ReadConnection,
  ledgerId: string,
  glAccountCode: string,
): Promise<readonly string[]> {
  const rows = await pool.any(sql.type(z.object({ assetCode: z.string() }))`
    SELECT asset_code AS "assetCode" FROM asset_rules AS rules
     WHERE ledger_id = ${ledgerId}
       AND ${glAccountCode} IN (wallets_account, clearing_account)
       AND version = (SELECT max(version) FROM asset_rules AS versions
                       WHERE versions.ledger_id = ${ledgerId}
                         AND versions.asset_code = rules.asset_code)
     ORDER BY asset_code`);
  return rows.map(({ assetCode }) => assetCode);
}

const balanceRow = z.object({ balance: z.bigint(), entryCount: z.number() });

export type AccountBalance = z.infer<typeof balanceRow>;

/**
 * The balance of an account: of its lines in one transaction currency, or (null) of all of them in
 * functional currency. Null when nothing was ever posted to it.
 */
export async function findBalance(
  pool: ReadConnection,
  ledgerId: string,
  glAccountCode: string,
  currency: string | null,
): Promise<AccountBalance | null> {
  return pool.maybeOne(sql.type(balanceRow)`
    SELECT balance, entry_count AS "entryCount" FROM account_balances
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
       AND currency = ${currency ?? ""}`);
}

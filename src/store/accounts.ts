// The chart of accounts.
import * as z from "zod";
import { accountTypes, type Account } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, isFew, newRows, sql } from "./database/statement.ts";

const accountRow = z.object({
  glAccountCode: z.string(),
  name: z.string(),
  type: z.enum(accountTypes).nullable(),
  active: z.boolean(),
});

const columns = sql.fragment`gl_account_code AS "glAccountCode", name, type, active`;

/** The chart of a ledger, by code in the order of its UTF-8 bytes. */
export async function listAccounts(
  connection: Connection,
  ledgerId: string,
  activeOnly: boolean,
): Promise<readonly Account[]> {
  const filter = activeOnly ? sql.fragment`AND active` : sql.fragment``;
  return connection.any(sql.type(accountRow)`
    SELECT ${columns} FROM accounts WHERE ledger_id = ${ledgerId} ${filter}
     ORDER BY gl_account_code COLLATE "C"`);
}

/** null when the chart has no such account. */
export async function findAccount(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string,
): Promise<Account | null> {
  return connection.maybeOne(sql.type(accountRow)`
    SELECT ${columns} FROM accounts
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}`);
}

/** Of the accounts named, those that exist, by code in the order of its UTF-8 bytes. */
export async function listAccountsByCode(
  connection: Connection,
  ledgerId: string,
  glAccountCodes: readonly string[],
): Promise<readonly Account[]> {
  return connection.any(sql.type(accountRow)`
    SELECT accounts.*
      FROM unnest(${sql.array(glAccountCodes, "text")}) AS wanted (code)
      CROSS JOIN LATERAL (
        SELECT ${columns} FROM accounts
         WHERE ledger_id = ${ledgerId} AND gl_account_code = wanted.code
         LIMIT 1
      ) AS accounts
     ORDER BY "glAccountCode" COLLATE "C"`);
}

const accountStateRow = z.object({ code: z.string(), active: z.boolean() });

/** Of the accounts named, those that exist, by code. */
export async function listAccountStates(
  connection: Connection,
  ledgerId: string,
  glAccountCodes: readonly string[],
): Promise<Map<string, { active: boolean }>> {
  if (isFew(glAccountCodes)) {
    const found = await Promise.all(
      glAccountCodes.map((code) => findAccount(connection, ledgerId, code)),
    );
    return new Map(found.flatMap((each) => (each === null ? [] : [[each.glAccountCode, each]])));
  }
  if (glAccountCodes.length === 0) return new Map();
  const rows = await connection.any(sql.type(accountStateRow)`
    SELECT accounts.gl_account_code AS code, accounts.active
      FROM unnest(${sql.array(glAccountCodes, "text")}) AS wanted (code)
      CROSS JOIN LATERAL (
        SELECT gl_account_code, active FROM accounts
         WHERE ledger_id = ${ledgerId} AND gl_account_code = wanted.code
         LIMIT 1
      ) AS accounts`);
  return new Map(rows.map(({ code, active }) => [code, { active }]));
}

const upsertedRow = z.object({ isNew: z.boolean() });

/**
 * Adds accounts; of one that exists, the name is updated, and type and active where they are given.
 * Returns how many are new, and how many are not what they were. Codes must not repeat.
 */
export async function upsertAccounts(
  connection: Connection,
  ledgerId: string,
  accounts: readonly (Omit<Account, "active"> & { readonly active: boolean | null })[],
  createdAt: Timestamp,
): Promise<{ added: number; updated: number }> {
  const switched = accounts.filter(({ active }) => active !== null);
  const active = sql.fragment`
    CASE WHEN EXCLUDED.gl_account_code = ANY (${column(switched, ({ glAccountCode }) => glAccountCode, "text")})
         THEN EXCLUDED.active ELSE held.active END`;
  const inserted = await connection.any(sql.type(upsertedRow)`
    INSERT INTO accounts AS held (ledger_id, gl_account_code, name, type, active, created_at)
    SELECT ledger.ledger_id, new.*, ${createdAt}::timestamptz
      FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = ${ledgerId}) AS ledger
      CROSS JOIN unnest(
        ${column(accounts, ({ glAccountCode }) => glAccountCode, "text")},
        ${column(accounts, ({ name }) => name, "text")},
        ${column(accounts, ({ type }) => type, "text")},
        ${column(accounts, ({ active }) => active ?? true, "bool")}) AS new (code, name, type, active)
     ORDER BY code
    ON CONFLICT (ledger_id, gl_account_code) DO UPDATE
       SET name = EXCLUDED.name, type = coalesce(EXCLUDED.type, held.type), active = ${active}
     WHERE (held.name, held.type, held.active)
           IS DISTINCT FROM (EXCLUDED.name, coalesce(EXCLUDED.type, held.type), ${active})
    RETURNING (xmax = 0) AS "isNew"`);
  const added = inserted.filter(({ isNew }) => isNew).length;
  return { added, updated: inserted.length - added };
}

/**
 * Adds one account; null when the code is taken. The account that has the code is locked then, and the lock is written
 * to the log: COMMIT waits until the standbys have that account (docs/decisions/0010).
 */
export async function insertAccount(
  connection: Connection,
  ledgerId: string,
  account: Account,
  createdAt: Timestamp,
): Promise<Account | null> {
  return connection.maybeOne(sql.type(accountRow)`
    INSERT INTO accounts (ledger_id, gl_account_code, name, type, active, created_at)
    VALUES (${ledgerId}, ${account.glAccountCode}, ${account.name}, ${account.type},
            ${account.active}, ${createdAt})
    ON CONFLICT (ledger_id, gl_account_code) DO UPDATE SET name = EXCLUDED.name WHERE false
    RETURNING ${columns}`);
}

/** Makes accounts that are not in the chart yet; one that is there is used as it is. */
export function insertMissingAccounts(
  connection: Connection,
  ledgerId: string,
  accounts: readonly Account[],
  createdAt: Timestamp,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO accounts ${newRows(ledgerId, {
      gl_account_code: column(accounts, ({ glAccountCode }) => glAccountCode, "text"),
      name: column(accounts, ({ name }) => name, "text"),
      type: column(accounts, ({ type }) => type, "text"),
      active: column(accounts, ({ active }) => active, "bool"),
      created_at: column(accounts, () => createdAt, "timestamptz"),
    })}
    ON CONFLICT (ledger_id, gl_account_code) DO NOTHING`);
}

/** Switches an account on or off; null when there is no such account. */
export async function updateAccountActive(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string,
  active: boolean,
): Promise<Account | null> {
  return connection.maybeOne(sql.type(accountRow)`
    UPDATE accounts SET active = ${active}
     WHERE ledger_id = ${ledgerId} AND gl_account_code = ${glAccountCode}
    RETURNING ${columns}`);
}

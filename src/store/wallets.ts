// Wallets: their locks and their figures.
import * as z from "zod";
import type { Wallet } from "../core/wallet.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { withKeyConflict } from "./database/errors.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const walletRow = z.object({
  walletId: z.string(),
  callerKey: z.string(),
  assetCode: z.string(),
  balance: z.bigint(),
  held: z.bigint(),
  lastSeq: z.number(),
  lastAt: timestampColumn,
  logHash: z.string().nullable(),
  frozenAt: timestampColumn.nullable(),
  debitedOn: z.string().nullable(),
  debited: z.bigint().nullable(),
}) satisfies z.ZodType<Wallet>;

/** Columns of a wallet `locked`. */
const lockedColumns = sql.fragment`
  locked.wallet_id AS "walletId", locked.caller_key AS "callerKey",
  locked.asset_code AS "assetCode", locked.balance, locked.held, locked.last_seq AS "lastSeq",
  locked.last_at AS "lastAt", encode(locked.log_hash, 'hex') AS "logHash",
  locked.frozen_at AS "frozenAt", locked.debited_on::text AS "debitedOn", locked.debited`;

/**
 * Locks wallets by key. Keys come sorted, so that two batches take locks in one order. Each is looked up by itself: with
 * `= ANY` a plan for all ledgers reads the whole of a large one where most have few wallets.
 */
export async function lockWallets(
  connection: Connection,
  ledgerId: string,
  callerKeys: readonly string[],
): Promise<Wallet[]> {
  const [first, ...others] = callerKeys;
  if (first === undefined) return [];
  if (others.length === 0) {
    return connection.any(sql.type(walletRow)`
      SELECT ${lockedColumns} FROM wallets AS locked
       WHERE ledger_id = ${ledgerId} AND caller_key = ${first} FOR UPDATE`);
  }
  return connection.any(sql.type(walletRow)`
    SELECT ${lockedColumns}
      FROM unnest(${sql.array(callerKeys, "text")}) AS wanted (caller_key)
      CROSS JOIN LATERAL (
        SELECT * FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = wanted.caller_key FOR UPDATE
      ) AS locked`);
}

const figuresRow = z.object({
  callerKey: z.string(),
  walletId: z.string(),
  balance: z.bigint(),
  available: z.bigint(),
  lastSeq: z.number(),
});

export type WalletFigures = z.output<typeof figuresRow>;

/** The figures of wallets by key, of those that exist; holds that have expired by now do not count. */
export async function listWalletFigures(
  connection: Connection,
  ledgerId: string,
  callerKeys: readonly string[],
): Promise<WalletFigures[]> {
  return connection.any(sql.type(figuresRow)`
    SELECT found.caller_key AS "callerKey", found.wallet_id AS "walletId", found.balance,
           found.last_seq AS "lastSeq",
           found.balance - found.held + CASE WHEN found.held = 0 THEN 0 ELSE (
             SELECT coalesce(sum(amount), 0) FROM wallet_holds
              WHERE ledger_id = ${ledgerId} AND wallet_id = found.wallet_id AND status = 'active'
                AND expires_at <= greatest(
                      date_trunc('milliseconds', clock_timestamp()), found.last_at)
           ) END AS available
      FROM unnest(${sql.array(callerKeys, "text")}) AS wanted (caller_key)
      CROSS JOIN LATERAL (
        SELECT * FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = wanted.caller_key
         LIMIT 1
      ) AS found`);
}

/**
 * Makes wallets, in the order of their keys; the chains of their logs begin with the first row. Throws KeyConflict when
 * another writer made one meanwhile.
 */
export function insertWallets(
  connection: Connection,
  ledgerId: string,
  wallets: readonly Wallet[],
): Promise<unknown> {
  if (wallets.length === 0) return Promise.resolve();
  return withKeyConflict(
    "wallets_pkey",
    connection.run(command`
      INSERT INTO wallets ${newRows(ledgerId, {
        caller_key: column(wallets, ({ callerKey }) => callerKey, "text"),
        wallet_id: column(wallets, ({ walletId }) => walletId, "uuid"),
        asset_code: column(wallets, ({ assetCode }) => assetCode, "text"),
        balance: column(wallets, ({ balance }) => balance, "numeric"),
        held: column(wallets, ({ held }) => held, "numeric"),
        last_seq: column(wallets, ({ lastSeq }) => lastSeq, "int8"),
        last_at: column(wallets, ({ lastAt }) => lastAt, "timestamptz"),
        log_hash: column(wallets, hashOf, "bytea"),
        chained_after: column(wallets, () => 0, "int8"),
      })}`),
  );
}

/**
 * Moves wallets that are locked to their new figures; being locked, they stay where they are (ctid). Of one whose log
 * had no chain before, it begins after the last row that was there.
 */
export function updateWallets(
  connection: Connection,
  ledgerId: string,
  wallets: readonly Wallet[],
): Promise<unknown> {
  const [first, ...others] = wallets;
  if (first === undefined) return Promise.resolve();
  if (others.length === 0) return updateWallet(connection, ledgerId, first);
  return connection.run(command`
    UPDATE wallets
       SET balance = new.balance, held = new.held, last_seq = new.last_seq,
           last_at = new.last_at, log_hash = decode(new.log_hash, 'hex'),
           chained_after = coalesce(wallets.chained_after, wallets.last_seq)
      FROM unnest(
        ${column(wallets, ({ callerKey }) => callerKey, "text")},
        ${column(wallets, ({ balance }) => balance, "numeric")},
        ${column(wallets, ({ held }) => held, "numeric")},
        ${column(wallets, ({ lastSeq }) => lastSeq, "int8")},
        ${column(wallets, ({ lastAt }) => lastAt, "timestamptz")},
        ${column(wallets, ({ logHash }) => logHash, "text")})
        AS new (caller_key, balance, held, last_seq, last_at, log_hash)
      CROSS JOIN LATERAL (
        SELECT ctid FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = new.caller_key
         LIMIT 1
      ) AS locked
     WHERE wallets.ledger_id = ${ledgerId} AND wallets.ctid = locked.ctid`);
}

/** As `updateWallets`: a statement on one row is planned in half the time, and a node of Citus keeps the plan. */
function updateWallet(connection: Connection, ledgerId: string, wallet: Wallet): Promise<unknown> {
  return connection.run(command`
    UPDATE wallets
       SET balance = ${wallet.balance}, held = ${wallet.held}, last_seq = ${wallet.lastSeq},
           last_at = ${wallet.lastAt}, log_hash = ${hashOf(wallet)},
           chained_after = coalesce(chained_after, last_seq)
     WHERE ledger_id = ${ledgerId} AND caller_key = ${wallet.callerKey}`);
}

/** As `updateWallets`, of wallets that are frozen or not any more, or whose figure for the day is kept or not any more. */
export function updateControlledWallets(
  connection: Connection,
  ledgerId: string,
  wallets: readonly Wallet[],
): Promise<unknown> {
  if (wallets.length === 0) return Promise.resolve();
  return connection.run(command`
    UPDATE wallets
       SET balance = new.balance, held = new.held, last_seq = new.last_seq,
           last_at = new.last_at, log_hash = decode(new.log_hash, 'hex'),
           chained_after = coalesce(wallets.chained_after, wallets.last_seq),
           frozen_at = new.frozen_at, debited_on = new.debited_on, debited = new.debited
      FROM unnest(
        ${column(wallets, ({ callerKey }) => callerKey, "text")},
        ${column(wallets, ({ balance }) => balance, "numeric")},
        ${column(wallets, ({ held }) => held, "numeric")},
        ${column(wallets, ({ lastSeq }) => lastSeq, "int8")},
        ${column(wallets, ({ lastAt }) => lastAt, "timestamptz")},
        ${column(wallets, ({ logHash }) => logHash, "text")},
        ${column(wallets, ({ frozenAt }) => frozenAt, "timestamptz")},
        ${column(wallets, ({ debitedOn }) => debitedOn, "date")},
        ${column(wallets, ({ debited }) => debited, "numeric")})
        AS new (caller_key, balance, held, last_seq, last_at, log_hash, frozen_at, debited_on, debited)
      CROSS JOIN LATERAL (
        SELECT ctid FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = new.caller_key
         LIMIT 1
      ) AS locked
     WHERE wallets.ledger_id = ${ledgerId} AND wallets.ctid = locked.ctid`);
}

/** As PostgreSQL reads bytes. */
function hashOf({ logHash }: Wallet): string | null {
  return logHash === null ? null : `\\x${logHash}`;
}

const differenceRow = z.object({
  ledgerId: z.string(),
  assetCode: z.string(),
  difference: z.bigint(),
});

export type WalletDifference = z.output<typeof differenceRow>;

/**
 * For every ledger and asset, what its wallets have together less what postings and pending batches say, in
 * smallest units of the asset: 0, unless something was changed behind the service's back. One statement, hence
 * one moment. It reads every wallet; the books' lines are left to the audit.
 */
export function listWalletDifferences(
  connection: Connection,
): Promise<readonly WalletDifference[]> {
  return connection.any(sql.type(differenceRow)`
    SELECT ledger_id AS "ledgerId", asset_code AS "assetCode", sum(amount) AS difference
      FROM (
        SELECT ledger_id, asset_code, balance AS amount FROM wallets
        UNION ALL
        SELECT ledger_id, asset_code, CASE side WHEN 'credit' THEN -amount ELSE amount END
          FROM wallet_posting_totals
        UNION ALL
        SELECT ledger_id, asset_code, CASE side WHEN 'credit' THEN -amount ELSE amount END
          FROM wallet_batches WHERE journal_id IS NULL
      ) AS figures
     GROUP BY 1, 2 ORDER BY 1, 2`);
}

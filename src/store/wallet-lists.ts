// Lists of a ledger's wallets, by the UTF-8 bytes of their callerKeys, as the database compares them (collation C).
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import { textAfterPrefix } from "../core/text.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";

const listedRow = z.object({
  callerKey: z.string(),
  assetCode: z.string(),
  balance: z.bigint(),
  available: z.bigint(),
  lastSeq: z.number(),
  createdAt: timestampColumn,
  lastAt: timestampColumn,
  frozenAt: timestampColumn.nullable(),
});

/** A wallet with its figures of now; holds that have expired do not count. */
export type ListedWallet = Readonly<z.output<typeof listedRow>>;

/** Which wallets, and which page of them. */
export interface WalletPlace {
  /** What their callerKeys begin with; empty for all. */
  readonly prefix: string;
  /** Only callerKeys after this one; empty for the first page. */
  readonly afterKey: string;
  readonly limit: number;
}

/** A page of wallets. */
export async function listWallets(
  connection: Connection,
  ledgerId: string,
  { prefix, afterKey, limit }: WalletPlace,
): Promise<readonly ListedWallet[]> {
  return listRows(
    connection,
    ledgerId,
    sql.fragment`
      SELECT * FROM wallets
       WHERE ledger_id = ${ledgerId} AND caller_key > ${afterKey} AND caller_key >= ${prefix}
         AND (${textAfterPrefix(prefix)}::text IS NULL OR caller_key < ${textAfterPrefix(prefix)})
       ORDER BY caller_key LIMIT ${limit}`,
  );
}

/**
 * A page of the wallets of one asset. Ordered by the asset too, which is one: so the planner does not look for them in the
 * index of all wallets, of which it might read nearly every one.
 */
export async function listWalletsOfAsset(
  connection: Connection,
  ledgerId: string,
  assetCode: string,
  { prefix, afterKey, limit }: WalletPlace,
): Promise<readonly ListedWallet[]> {
  return listRows(
    connection,
    ledgerId,
    sql.fragment`
      SELECT * FROM wallets
       WHERE ledger_id = ${ledgerId} AND asset_code <= ${assetCode}
         AND (asset_code, caller_key) > (${assetCode}::text, ${afterKey}::text)
         AND (asset_code, caller_key) >= (${assetCode}::text, ${prefix}::text)
         AND (${textAfterPrefix(prefix)}::text IS NULL
              OR (asset_code, caller_key) < (${assetCode}::text, ${textAfterPrefix(prefix)}::text))
       ORDER BY asset_code, caller_key LIMIT ${limit}`,
  );
}

/** `rows`: a page of wallets in its order, which is kept. */
async function listRows(
  connection: Connection,
  ledgerId: string,
  rows: FragmentSqlToken,
): Promise<readonly ListedWallet[]> {
  return connection.any(sql.type(listedRow)`
    SELECT page.caller_key AS "callerKey", page.asset_code AS "assetCode", page.balance,
           page.balance - page.held + CASE WHEN page.held = 0 THEN 0 ELSE (
             SELECT coalesce(sum(amount), 0) FROM wallet_holds
              WHERE ledger_id = ${ledgerId} AND wallet_id = page.wallet_id AND status = 'active'
                AND expires_at <= greatest(
                      date_trunc('milliseconds', clock_timestamp()), page.last_at)
           ) END AS available,
           page.last_seq AS "lastSeq", page.last_at AS "lastAt", page.frozen_at AS "frozenAt",
           made.at AS "createdAt"
      FROM (${rows}) AS page
      CROSS JOIN LATERAL (
        SELECT at FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND wallet_id = page.wallet_id AND seq = 1
         LIMIT 1
      ) AS made
     ORDER BY page.caller_key`);
}

// What the metrics tell of all ledgers together.
import { sql } from "slonik";
import { z } from "zod";
import type { Connection } from "./database/connection.ts";

const backlogRow = z.object({
  /** Batch sides that wait, those that round to nothing too. */
  pendingBatches: z.number(),
  /** How long the oldest write has waited that can be posted; 0 when none waits. */
  lagSeconds: z.number(),
  /** Assets, each in its ledger, whose writes wait for a first rate. */
  assetsWithoutRate: z.number(),
});

export type PostingBacklog = z.output<typeof backlogRow>;

/** What waits to be posted in all ledgers. What rounds to nothing is due to nobody, however long it waits. */
export function getPostingBacklog(connection: Connection): Promise<PostingBacklog> {
  return connection.one(sql.type(backlogRow)`
    WITH waiting AS (
      SELECT sides.ledger_id, sides.asset_code, sides.side, rules.version, rules.rate,
             sum(sides.amount) AS amount, count(*) AS batches, min(sides.accepted_from) AS since
        FROM wallet_batches AS sides
        LEFT JOIN LATERAL (
          SELECT version, rate FROM asset_rules AS rules
           WHERE rules.ledger_id = sides.ledger_id AND rules.asset_code = sides.asset_code
             AND rules.version >= sides.rule_version AND rules.rate IS NOT NULL
           ORDER BY version LIMIT 1
        ) AS rules ON true
       WHERE sides.journal_id IS NULL
       GROUP BY 1, 2, 3, 4, 5
    ), due AS (
      SELECT waiting.*,
             abs((coalesce(totals.amount, 0) + waiting.amount) * waiting.rate
                 - coalesce(totals.functional_amount, 0)) > 0.5 AS is_due
        FROM waiting
        LEFT JOIN wallet_posting_totals AS totals
          ON totals.ledger_id = waiting.ledger_id AND totals.asset_code = waiting.asset_code
         AND totals.rule_version = waiting.version AND totals.side = waiting.side
    )
    SELECT coalesce(sum(batches), 0)::float8 AS "pendingBatches",
           greatest(0, coalesce(extract(
             epoch FROM clock_timestamp() - min(since) FILTER (WHERE is_due)), 0))::float8
             AS "lagSeconds",
           (count(DISTINCT (ledger_id, asset_code)) FILTER (WHERE rate IS NULL))::float8
             AS "assetsWithoutRate"
      FROM due`);
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

// What an audit compares by SQL: pending postings with the writes that they sum, postings with both and with the journal.
import * as z from "zod";
import type { Connection } from "../database/connection.ts";
import { sql } from "../database/statement.ts";
import { foundRow, type FoundRow } from "./journal.ts";

/** Pending postings (posted ones too) that are not what their writes come to, and writes whose own is not there. */
export function listBatchFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH by_wallet AS (
      SELECT batch_id, writes.wallet_id, sum(amount) AS amount, count(*) AS writes,
             min(at) AS first_at, max(at) AS last_at, min(seq) AS first_seq, max(seq) AS last_seq,
             bool_or(type = 'credit') AS has_credits, bool_or(type <> 'credit') AS has_debits
        FROM wallet_writes AS writes
       WHERE ledger_id = ${ledgerId} AND batch_id IS NOT NULL
       GROUP BY batch_id, writes.wallet_id
    ), written AS (
      SELECT batch_id, count(*) AS wallets, sum(by_wallet.amount) AS amount, sum(writes) AS writes,
             min(first_at) AS first_at, max(by_wallet.last_at) AS last_at,
             bool_or(has_credits) AS has_credits, bool_or(has_debits) AS has_debits,
             min(asset_code) AS least_asset, max(asset_code) AS greatest_asset,
             jsonb_object_agg(by_wallet.wallet_id, jsonb_build_array(first_seq, by_wallet.last_seq))
               AS spans
        FROM by_wallet
        LEFT JOIN wallets ON wallets.ledger_id = ${ledgerId}
                         AND wallets.wallet_id = by_wallet.wallet_id
       GROUP BY batch_id
    ), compared AS (
      SELECT coalesce(batches.batch_id, written.batch_id) AS batch_id,
             CASE
               WHEN batches.batch_id IS NULL THEN 'has writes and is not there'
               WHEN written.batch_id IS NULL THEN 'has no writes'
               WHEN batches.amount <> written.amount
               THEN 'has the amount ' || batches.amount || ', its writes sum to ' || written.amount
               WHEN write_count <> written.writes
               THEN 'counts ' || write_count || ' writes, there are ' || written.writes
               WHEN accepted_from <> first_at OR accepted_to <> written.last_at
               THEN 'has other times than its writes'
               WHEN has_credits = (side = 'debit') OR has_debits = (side = 'credit')
               THEN 'has writes of the other side'
               WHEN least_asset IS DISTINCT FROM batches.asset_code
                    OR greatest_asset IS DISTINCT FROM batches.asset_code
               THEN 'has writes of another asset'
               WHEN cardinality(wallet_ids) <> wallets OR cardinality(first_seqs) <> wallets
                    OR cardinality(last_seqs) <> wallets OR written.spans IS DISTINCT FROM (
                      SELECT jsonb_object_agg(wallet_id, jsonb_build_array(first_seq, last_seq))
                        FROM unnest(wallet_ids, first_seqs, last_seqs)
                          AS spans (wallet_id, first_seq, last_seq)
                       WHERE wallet_id IS NOT NULL)
               THEN 'names other writes than those that name it'
               WHEN NOT EXISTS (SELECT 1 FROM asset_rules AS rules
                                 WHERE rules.ledger_id = ${ledgerId}
                                   AND rules.asset_code = batches.asset_code
                                   AND rules.version = batches.rule_version)
               THEN 'was accepted under rule ' || rule_version || ', which is not there'
             END AS what
        FROM (SELECT * FROM wallet_batches WHERE ledger_id = ${ledgerId}) AS batches
        FULL JOIN written ON written.batch_id = batches.batch_id
    )
    SELECT 'wallet batch ' || batch_id AS where, what, count(*) OVER () AS total
      FROM compared WHERE what IS NOT NULL ORDER BY batch_id LIMIT 20`);
}

/** Marks of batches that no posting has, and postings whose entry does not move what their batches sum to. */
export function listPostingFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH marked AS (
      SELECT journal_id, min(asset_code) AS least_asset, max(asset_code) AS greatest_asset,
             coalesce(sum(amount) FILTER (WHERE side = 'credit'), 0) AS credits,
             coalesce(sum(amount) FILTER (WHERE side = 'debit'), 0) AS debits
        FROM wallet_batches WHERE ledger_id = ${ledgerId} AND journal_id IS NOT NULL
       GROUP BY journal_id
    ), compared AS (
      SELECT coalesce(postings.journal_id, marked.journal_id) AS journal_id,
             CASE
               WHEN postings.journal_id IS NULL THEN 'has wallet batches and is no posting'
               WHEN entries.journal_id IS NULL THEN 'is a posting and is not there'
               WHEN marked.journal_id IS NULL THEN 'is a posting without wallet batches'
               WHEN least_asset <> postings.asset_code OR greatest_asset <> postings.asset_code
               THEN 'posts batches of another asset than ' || postings.asset_code
               WHEN rules.wallets_account IS NULL THEN 'is a posting under a rule that is not there'
               WHEN credits <> lines.credited OR debits <> lines.debited
               THEN 'posts credits of ' || lines.credited || ' and debits of ' || lines.debited
                    || ', its batches sum to ' || credits || ' and ' || debits
             END AS what
        FROM (SELECT * FROM wallet_postings WHERE ledger_id = ${ledgerId}) AS postings
        FULL JOIN marked ON marked.journal_id = postings.journal_id
        LEFT JOIN journal_entries AS entries
          ON entries.ledger_id = ${ledgerId} AND entries.journal_id = postings.journal_id
        LEFT JOIN asset_rules AS rules
          ON rules.ledger_id = ${ledgerId} AND rules.asset_code = postings.asset_code
         AND rules.version = postings.rule_version
        LEFT JOIN LATERAL (
          SELECT coalesce(sum(-transaction_amount) FILTER (WHERE transaction_amount < 0), 0)
                   AS credited,
                 coalesce(sum(transaction_amount) FILTER (WHERE transaction_amount > 0), 0)
                   AS debited
            FROM journal_lines
           WHERE journal_lines.ledger_id = ${ledgerId}
             AND journal_lines.sequence = entries.sequence
             AND gl_account_code = rules.wallets_account
             AND transaction_currency = postings.asset_code
        ) AS lines ON true
    )
    SELECT 'entry ' || journal_id AS where, what, count(*) OVER () AS total
      FROM compared WHERE what IS NOT NULL ORDER BY journal_id LIMIT 20`);
}

/** Postings with the lines of their entries that are on wallets accounts. */
const postedLines = sql.fragment`
  wallet_postings AS postings
  JOIN journal_entries AS entries
    ON entries.ledger_id = postings.ledger_id AND entries.journal_id = postings.journal_id
  JOIN asset_rules AS rules
    ON rules.ledger_id = postings.ledger_id AND rules.asset_code = postings.asset_code
   AND rules.version = postings.rule_version
  JOIN journal_lines AS lines
    ON lines.ledger_id = entries.ledger_id AND lines.sequence = entries.sequence
   AND lines.gl_account_code = rules.wallets_account`;

const totalRow = z.object({
  assetCode: z.string(),
  ruleVersion: z.number(),
  side: z.string(),
  rate: z.string().nullable(),
  amount: z.bigint().nullable(),
  functionalAmount: z.bigint().nullable(),
  postedAmount: z.bigint(),
  postedFunctionalAmount: z.bigint(),
});

/** The running totals of postings beside what the lines of postings sum to; null where there is no total. */
export function listComparedTotals(
  connection: Connection,
  ledgerId: string,
): Promise<readonly z.output<typeof totalRow>[]> {
  return connection.any(sql.type(totalRow)`
    WITH posted AS (
      SELECT postings.asset_code, postings.rule_version,
             CASE WHEN functional_amount < 0 THEN 'credit' ELSE 'debit' END AS side,
             sum(abs(transaction_amount)) AS amount, sum(abs(functional_amount)) AS functional_amount
        FROM ${postedLines} WHERE postings.ledger_id = ${ledgerId}
       GROUP BY 1, 2, 3
    )
    SELECT coalesce(posted.asset_code, totals.asset_code) AS "assetCode",
           coalesce(posted.rule_version, totals.rule_version) AS "ruleVersion",
           coalesce(posted.side, totals.side) AS side,
           (SELECT rate::text FROM asset_rules
             WHERE ledger_id = ${ledgerId}
               AND asset_code = coalesce(posted.asset_code, totals.asset_code)
               AND version = coalesce(posted.rule_version, totals.rule_version)) AS rate,
           totals.amount, totals.functional_amount AS "functionalAmount",
           coalesce(posted.amount, 0) AS "postedAmount",
           coalesce(posted.functional_amount, 0) AS "postedFunctionalAmount"
      FROM (SELECT * FROM wallet_posting_totals WHERE ledger_id = ${ledgerId}) AS totals
      FULL JOIN posted
        ON posted.asset_code = totals.asset_code AND posted.rule_version = totals.rule_version
       AND posted.side = totals.side
     ORDER BY 1, 2, 3`);
}

const reconciliationRow = z.object({
  assetCode: z.string(),
  wallets: z.bigint(),
  posted: z.bigint(),
  pending: z.bigint(),
});

/**
 * By asset: the sum of its wallets, what postings put on its wallets accounts (credits negative) and
 * what waits to be posted (credits positive), each in units of the asset.
 */
export function listReconciliations(
  connection: Connection,
  ledgerId: string,
): Promise<readonly z.output<typeof reconciliationRow>[]> {
  return connection.any(sql.type(reconciliationRow)`
    SELECT asset_code AS "assetCode", sum(wallets) AS wallets, sum(posted) AS posted,
           sum(pending) AS pending
      FROM (
        SELECT asset_code, balance AS wallets, 0::numeric AS posted, 0::numeric AS pending
          FROM wallets WHERE ledger_id = ${ledgerId}
        UNION ALL
        SELECT asset_code, 0, 0, CASE side WHEN 'credit' THEN amount ELSE -amount END
          FROM wallet_batches WHERE ledger_id = ${ledgerId} AND journal_id IS NULL
        UNION ALL
        SELECT postings.asset_code, 0, lines.transaction_amount, 0
          FROM ${postedLines}
         WHERE postings.ledger_id = ${ledgerId}
           AND lines.transaction_currency = postings.asset_code
      ) AS figures
     GROUP BY asset_code ORDER BY asset_code`);
}

const foreignRow = z.object({
  glAccountCode: z.string(),
  entryCount: z.number(),
  amount: z.bigint(),
});

/** Entries on wallets accounts that are no postings: clients may post there, and reconciliation leaves them out. */
export function listForeignEntries(
  connection: Connection,
  ledgerId: string,
): Promise<readonly z.output<typeof foreignRow>[]> {
  return connection.any(sql.type(foreignRow)`
    SELECT lines.gl_account_code AS "glAccountCode",
           count(DISTINCT lines.sequence) AS "entryCount", sum(lines.functional_amount) AS amount
      FROM journal_lines AS lines
      JOIN journal_entries AS entries
        ON entries.ledger_id = lines.ledger_id AND entries.sequence = lines.sequence
     WHERE lines.ledger_id = ${ledgerId}
       AND lines.gl_account_code IN (
             SELECT wallets_account FROM asset_rules WHERE ledger_id = ${ledgerId})
       AND NOT EXISTS (
             SELECT 1 FROM wallet_postings AS postings
              WHERE postings.ledger_id = lines.ledger_id
                AND postings.journal_id = entries.journal_id)
     GROUP BY lines.gl_account_code ORDER BY 1`);
}

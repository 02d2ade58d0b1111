// What batches of wallet writes leave to be posted, a row for each asset, side and day of a batch (in the table
// wallet_batches), and the marks once it is.
import type { FragmentSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import type { PendingPosting } from "../core/posting.ts";
import type { NewPendingPosting } from "../core/wallet-pending.ts";
import { assetCodeRow, ledgerIdRow, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";

/** Whether a rule gives a rate to a pending posting `waiting`. */
function hasRate(ledgerId: string | FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    EXISTS (
      SELECT 1 FROM asset_rules AS rules
       WHERE rules.ledger_id = ${ledgerId} AND rules.asset_code = waiting.asset_code
         AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)`;
}

/** Records what a batch leaves to be posted. */
export function insertPendingPostings(
  connection: Connection,
  ledgerId: string,
  pendingPostings: readonly NewPendingPosting[],
): Promise<unknown> {
  // One statement each: arrays of arrays would have to be of one length.
  return Promise.all(
    pendingPostings.map(({ spans, ...pending }) =>
      connection.run(command`
        INSERT INTO wallet_batches
          (ledger_id, batch_id, asset_code, rule_version, side, amount, write_count,
           accepted_from, accepted_to, wallet_ids, first_seqs, last_seqs)
        VALUES
          (${ledgerId}, ${pending.pendingPostingId}, ${pending.assetCode}, ${pending.ruleVersion},
           ${pending.side}, ${pending.amount}, ${pending.writeCount}, ${pending.acceptedFrom},
           ${pending.acceptedTo}, ${column(spans, ({ walletId }) => walletId, "uuid")},
           ${column(spans, ({ firstSeq }) => firstSeq, "int8")}, ${column(spans, ({ lastSeq }) => lastSeq, "int8")})`),
    ),
  );
}

const postedRow = z.object({ pendingPostingId: z.string(), journalId: z.string() });
const postedIdRow = postedRow.pick({ pendingPostingId: true });

/** Of pending postings, those that have been posted, with their entries. */
export async function listPostings(
  connection: Connection,
  ledgerId: string,
  pendingPostingIds: readonly string[],
): Promise<z.output<typeof postedRow>[]> {
  if (pendingPostingIds.length === 0) return [];
  return connection.any(sql.type(postedRow)`
    SELECT postings.batch_id AS "pendingPostingId", postings.journal_id AS "journalId"
      FROM unnest(${sql.array(pendingPostingIds, "uuid")}) AS wanted (batch_id)
      CROSS JOIN LATERAL (
        SELECT batch_id, journal_id FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND batch_id = wanted.batch_id
           AND journal_id IS NOT NULL
         LIMIT 1
      ) AS postings`);
}

/** What waits to be posted of a wallet. */
export async function listPendingPostingIds(
  connection: Connection,
  ledgerId: string,
  walletId: string,
): Promise<string[]> {
  const rows = await connection.any(sql.type(postedIdRow)`
    SELECT batch_id AS "pendingPostingId" FROM wallet_batches
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL
       -- What waits of another asset, for a rate maybe, is not read.
       AND asset_code = (SELECT asset_code FROM wallets
                          WHERE ledger_id = ${ledgerId} AND wallet_id = ${walletId})
       AND ${walletId} = ANY (wallet_ids)`);
  return rows.map(({ pendingPostingId }) => pendingPostingId);
}

/** Ledgers in which something waits. */
export async function listLedgersWithPending(connection: Connection): Promise<string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT DISTINCT ledger_id AS "ledgerId" FROM wallet_batches WHERE journal_id IS NULL`);
  return rows.map(({ ledgerId }) => ledgerId);
}

/** The same, of a database that Citus spreads, without those on nodes that can't be reached. */
export async function listReachedLedgersWithPending(connection: Connection): Promise<string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT ids.id AS "ledgerId"
      FROM run_command_on_shards('wallet_batches', ${pendingLedgersOfShard}) AS shards
      CROSS JOIN LATERAL json_array_elements_text(
        CASE WHEN shards.success THEN shards.result::json ELSE '[]' END) AS ids (id)`);
  return rows.map(({ ledgerId }) => ledgerId);
}

/** Citus puts the name of the shard in the place of %s. */
const pendingLedgersOfShard = `
  SELECT coalesce(json_agg(DISTINCT ledger_id), '[]') FROM %s WHERE journal_id IS NULL`;

const pendingRow = z.object({
  pendingPostingId: z.string(),
  assetCode: z.string(),
  ruleVersion: z.number(),
  side: z.enum(["credit", "debit"]),
  amount: z.bigint(),
  writeCount: z.number(),
  acceptedFrom: timestampColumn,
  acceptedTo: timestampColumn,
  walletIds: z.array(z.string()),
}) satisfies z.ZodType<PendingPosting>;

/**
 * Pending postings that have a rate, oldest first, up to a number; read under the lock of the
 * journal's head.
 */
export async function listPendingPostings(
  connection: Connection,
  ledgerId: string,
  limit: number,
): Promise<PendingPosting[]> {
  return connection.any(sql.type(pendingRow)`
    SELECT batch_id AS "pendingPostingId", asset_code AS "assetCode", rule_version AS "ruleVersion",
           side, amount, write_count AS "writeCount", accepted_from AS "acceptedFrom",
           accepted_to AS "acceptedTo", to_json(wallet_ids) AS "walletIds"
      FROM (
        SELECT asset_code AS rated_code, max(version) AS rated_version FROM asset_rules
         WHERE ledger_id = ${ledgerId} AND rate IS NOT NULL
         GROUP BY asset_code
      ) AS rated
      -- Asset by asset: what waits for a rate, however much it is, is not read.
      CROSS JOIN LATERAL (
        SELECT * FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND journal_id IS NULL
           AND asset_code = rated_code AND rule_version <= rated_version
        OFFSET 0
      ) AS waiting
     ORDER BY accepted_to LIMIT ${limit}`);
}

/** Marks pending postings with the entries that hold them; under the head's lock they stay where they are (ctid). */
export function markPosted(
  connection: Connection,
  ledgerId: string,
  marks: readonly { readonly pendingPostingId: string; readonly journalId: string }[],
): Promise<unknown> {
  return connection.run(command`
    UPDATE wallet_batches SET journal_id = marks.journal_id
      FROM unnest(
        ${column(marks, ({ pendingPostingId }) => pendingPostingId, "uuid")},
        ${column(marks, ({ journalId }) => journalId, "uuid")}) AS marks (batch_id, journal_id)
      CROSS JOIN LATERAL (
        SELECT ctid FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND batch_id = marks.batch_id
         LIMIT 1
      ) AS waiting
     WHERE wallet_batches.ledger_id = ${ledgerId} AND wallet_batches.ctid = waiting.ctid`);
}

/** Assets with pending postings that no rule gives a rate to; what only rounds to nothing has one. */
export async function listAssetsWithoutRate(
  connection: Connection,
  ledgerId: string,
): Promise<string[]> {
  const rows = await connection.any(sql.type(assetCodeRow)`
    SELECT DISTINCT asset_code AS "assetCode" FROM wallet_batches AS waiting
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL AND NOT ${hasRate(ledgerId)}
     ORDER BY 1`);
  return rows.map(({ assetCode }) => assetCode);
}

const waitingAssetRow = z.object({ ledgerId: z.string(), assetCode: z.string() });

/** Assets, of all ledgers, with pending postings that wait for a first rate. */
export async function listWaitingAssets(
  connection: Connection,
): Promise<{ ledgerId: string; assetCode: string }[]> {
  return connection.any(sql.type(waitingAssetRow)`
    SELECT DISTINCT ledger_id AS "ledgerId", asset_code AS "assetCode"
      FROM wallet_batches AS waiting
     WHERE journal_id IS NULL AND NOT ${hasRate(sql.fragment`waiting.ledger_id`)}
     ORDER BY 1, 2`);
}

const pendingAmountRow = z.object({ assetCode: z.string(), amount: z.bigint() });

/** Gross amounts that wait, by asset. */
export async function listPendingAmounts(
  connection: Connection,
  ledgerId: string,
): Promise<{ assetCode: string; amount: bigint }[]> {
  return connection.any(sql.type(pendingAmountRow)`
    SELECT asset_code AS "assetCode", sum(amount) AS amount FROM wallet_batches
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL GROUP BY asset_code`);
}

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

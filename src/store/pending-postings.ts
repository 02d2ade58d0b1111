// What batches of wallet writes leave to be posted, a row for each asset, side and day of a batch (in the table
// wallet_batches), and the marks once it is.
import { sql } from "slonik";
import { z } from "zod";
import type { PendingPosting } from "../core/posting.ts";
import type { NewPendingPosting } from "../core/wallet-batch.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command } from "./database/statement.ts";

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
           ${pending.acceptedTo}, ${column(spans, "walletId", "uuid")},
           ${column(spans, "firstSeq", "int8")}, ${column(spans, "lastSeq", "int8")})`),
    ),
  );
}

const postedRow = z.object({ pendingPostingId: z.string(), journalId: z.string() });

/** Of pending postings, those that have been posted, with their entries. */
export async function listPostedBatches(
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
  const rows = await connection.any(sql.type(postedRow.pick({ pendingPostingId: true }))`
    SELECT batch_id AS "pendingPostingId" FROM wallet_batches
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL AND ${walletId} = ANY (wallet_ids)`);
  return rows.map(({ pendingPostingId }) => pendingPostingId);
}

/** Ledgers in which something waits. */
export async function listLedgersWithPending(connection: Connection): Promise<string[]> {
  const rows = await connection.any(sql.type(z.object({ ledgerId: z.string() }))`
    SELECT DISTINCT ledger_id AS "ledgerId" FROM wallet_batches WHERE journal_id IS NULL`);
  return rows.map(({ ledgerId }) => ledgerId);
}

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
      FROM wallet_batches AS waiting
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL
       AND EXISTS (
         SELECT 1 FROM asset_rules AS rules
          WHERE rules.ledger_id = ${ledgerId} AND rules.asset_code = waiting.asset_code
            AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
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
        ${column(marks, "pendingPostingId", "uuid")},
        ${column(marks, "journalId", "uuid")}) AS marks (batch_id, journal_id)
      CROSS JOIN LATERAL (
        SELECT ctid FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND batch_id = marks.batch_id
         LIMIT 1
      ) AS waiting
     WHERE wallet_batches.ctid = waiting.ctid`);
}

/** Assets with pending postings that no rule gives a rate to; what only rounds to nothing has one. */
export async function listAssetsWithoutRate(
  connection: Connection,
  ledgerId: string,
): Promise<string[]> {
  const rows = await connection.any(sql.type(z.object({ assetCode: z.string() }))`
    SELECT DISTINCT asset_code AS "assetCode" FROM wallet_batches AS waiting
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL
       AND NOT EXISTS (
         SELECT 1 FROM asset_rules AS rules
          WHERE rules.ledger_id = ${ledgerId} AND rules.asset_code = waiting.asset_code
            AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
     ORDER BY 1`);
  return rows.map(({ assetCode }) => assetCode);
}

/** Assets, of all ledgers, with pending postings that wait for a first rate. */
export async function listWaitingAssets(
  connection: Connection,
): Promise<{ ledgerId: string; assetCode: string }[]> {
  return connection.any(sql.type(z.object({ ledgerId: z.string(), assetCode: z.string() }))`
    SELECT DISTINCT ledger_id AS "ledgerId", asset_code AS "assetCode"
      FROM wallet_batches AS waiting
     WHERE journal_id IS NULL
       AND NOT EXISTS (
         SELECT 1 FROM asset_rules AS rules
          WHERE rules.ledger_id = waiting.ledger_id
            AND rules.asset_code = waiting.asset_code
            AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
     ORDER BY 1, 2`);
}

/** Gross amounts that wait, by asset. */
export async function listPendingAmounts(
  connection: Connection,
  ledgerId: string,
): Promise<{ assetCode: string; amount: bigint }[]> {
  return connection.any(sql.type(z.object({ assetCode: z.string(), amount: z.bigint() }))`
    SELECT asset_code AS "assetCode", sum(amount) AS amount FROM wallet_batches
     WHERE ledger_id = ${ledgerId} AND journal_id IS NULL GROUP BY asset_code`);
}

// Digests of what is in wallets' logs from before logs were chained.
import * as z from "zod";
import type { ChainHash } from "../core/wallet.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";
import { walletWriteRow } from "./wallet-writes.ts";

const doneRow = z.object({ isDone: z.boolean() });

/** Whether every row that is older than chains has had its digest, or there is none: each ledger was made since. */
export async function areLogsDigested(connection: Connection): Promise<boolean> {
  const { isDone } = await connection.one(sql.type(doneRow)`
    SELECT EXISTS (SELECT 1 FROM wallet_digest_completions)
           OR NOT EXISTS (SELECT 1 FROM administration_acts
                           WHERE subject = 'ledgers' AND kind = 'adopted') AS "isDone"`);
  return isDone;
}

/** Any number that nobody else locks. */
const lockId = 0x6c6f6773;

/** Takes the lock of who makes digests until the transaction ends; false where another has it. */
export async function tryLockDigests(transaction: Connection): Promise<boolean> {
  const { isDone } = await transaction.one(sql.type(doneRow)`
    SELECT pg_try_advisory_xact_lock(${lockId}) AS "isDone"`);
  return isDone;
}

const olderLogRow = z.object({
  walletId: z.string(),
  callerKey: z.string(),
  assetCode: z.string(),
  /** The last seq of what is older than the chain. */
  olderThrough: z.number(),
});

/** A wallet whose log has rows that are older than its chain. */
export type OlderLog = Readonly<z.output<typeof olderLogRow>>;

/** Wallets that wait for their digests, by id after another. */
export async function listUndigestedLogs(
  connection: Connection,
  ledgerId: string,
  afterWalletId: string,
  limit: number,
): Promise<readonly OlderLog[]> {
  return connection.any(sql.type(olderLogRow)`
    SELECT wallet_id AS "walletId", caller_key AS "callerKey", asset_code AS "assetCode",
           coalesce(chained_after, last_seq) AS "olderThrough"
      FROM wallets
     WHERE ledger_id = ${ledgerId} AND wallet_id > ${afterWalletId}
       AND coalesce(chained_after, last_seq) > 0
       AND NOT EXISTS (
             SELECT 1 FROM wallet_log_digests AS digests
              WHERE digests.ledger_id = ${ledgerId} AND digests.wallet_id = wallets.wallet_id)
     ORDER BY wallet_id LIMIT ${limit}`);
}

const olderRow = walletWriteRow.extend({
  expiresAt: timestampColumn.nullable(),
  ruleVersion: z.number().nullable(),
});

/** A row of a log with what was accepted with it. */
export type OlderRow = Readonly<z.output<typeof olderRow>>;

/** Rows of logs by wallet and seq, after a place, up to the end of a wallet's log. */
export async function listOlderRows(
  connection: Connection,
  ledgerId: string,
  after: Pick<OlderRow, "walletId" | "seq">,
  upToWalletId: string,
  limit: number,
): Promise<readonly OlderRow[]> {
  return connection.any(sql.type(olderRow)`
    SELECT writes.wallet_id AS "walletId", seq, type, writes.amount, balance, held,
           external_id AS "externalId", writes.hold_id AS "holdId", metadata, at,
           transfer_id AS "transferId", counterparty, writes.batch_id AS "pendingPostingId",
           CASE WHEN type = 'reserve' THEN holds.expires_at END AS "expiresAt",
           postings.rule_version AS "ruleVersion"
      FROM (SELECT * FROM wallet_writes
             WHERE ledger_id = ${ledgerId}
               AND (wallet_id, seq) > (${after.walletId}::uuid, ${after.seq}::bigint)
               AND wallet_id <= ${upToWalletId}
             ORDER BY wallet_id, seq LIMIT ${limit}) AS writes
      LEFT JOIN LATERAL (
        SELECT expires_at FROM wallet_holds AS holds
         WHERE holds.ledger_id = ${ledgerId} AND holds.hold_id = writes.hold_id
           AND holds.wallet_id = writes.wallet_id
         LIMIT 1
      ) AS holds ON true
      LEFT JOIN LATERAL (
        SELECT rule_version FROM wallet_batches AS batches
         WHERE batches.ledger_id = ${ledgerId} AND batches.batch_id = writes.batch_id
         LIMIT 1
      ) AS postings ON true
     ORDER BY writes.wallet_id, seq`);
}

/** Records digests. */
export async function insertDigests(
  connection: Connection,
  ledgerId: string,
  digests: readonly { readonly walletId: string; readonly digest: ChainHash }[],
): Promise<void> {
  await connection.run(command`
    INSERT INTO wallet_log_digests (ledger_id, wallet_id, digest)
    SELECT ledger.ledger_id, wallet_id, decode(digest, 'hex')
      FROM (SELECT ledger_id FROM ledger_states WHERE ledger_id = ${ledgerId}) AS ledger
      CROSS JOIN unnest(
        ${column(digests, ({ walletId }) => walletId, "uuid")},
        ${column(digests, ({ digest }) => digest, "text")}) AS new (wallet_id, digest)`);
}

/** Records that nothing waits for a digest any more. */
export async function insertDigestCompletion(connection: Connection): Promise<void> {
  await connection.run(command`
    INSERT INTO wallet_digest_completions (completed_at)
    SELECT date_trunc('milliseconds', clock_timestamp())
     WHERE NOT EXISTS (SELECT 1 FROM wallet_digest_completions)`);
}

// Reading wallets: figures of many at once, and a wallet's log.
import type { Timestamp } from "../core/time.ts";
import type { WalletWriteType } from "../core/wallet.ts";
import type { StatementSender } from "./write-connections.ts";

export interface WalletFigures {
  readonly callerKey: string;
  readonly walletId: string;
  readonly balance: bigint;
  readonly available: bigint;
  readonly lastSeq: number;
}

/** The figures of wallets by key, of those that exist; holds that have expired by now do not count. */
export async function listWalletFigures(
  sender: StatementSender,
  ledgerId: string,
  callerKeys: readonly string[],
): Promise<WalletFigures[]> {
  return sender.send<WalletFigures>(
    {
      name: "list_wallet_figures",
      text: `SELECT found.caller_key AS "callerKey", found.wallet_id AS "walletId", found.balance,
                    found.last_seq AS "lastSeq",
                    found.balance - found.held + CASE WHEN found.held = 0 THEN 0 ELSE (
                      SELECT coalesce(sum(amount), 0) FROM wallet_holds
                       WHERE ledger_id = $1 AND wallet_id = found.wallet_id AND status = 'active'
                         AND expires_at <= greatest(
                               date_trunc('milliseconds', clock_timestamp()), found.last_at)
                    ) END AS available
               FROM unnest($2::text[]) AS wanted (caller_key)
               CROSS JOIN LATERAL (
                 SELECT * FROM wallets
                  WHERE ledger_id = $1 AND caller_key = wanted.caller_key
                  LIMIT 1
               ) AS found`,
    },
    [ledgerId, callerKeys],
  );
}

export interface WalletHistoryRow {
  readonly seq: number;
  readonly type: WalletWriteType;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly held: bigint;
  readonly externalId: string | null;
  readonly holdId: string | null;
  readonly metadata: string | null;
  readonly at: Timestamp;
  readonly pendingPostingId: string | null;
  /** The entry that it was posted with, once it was. */
  readonly journalId: string | null;
}

/** A wallet's log after a seq, in order; empty for a wallet that was never written. */
export async function listWalletHistory(
  sender: StatementSender,
  ledgerId: string,
  callerKey: string,
  page: { readonly afterSeq: number; readonly limit: number },
): Promise<WalletHistoryRow[]> {
  return sender.send<WalletHistoryRow>(
    {
      name: "list_wallet_history",
      text: `SELECT writes.seq, writes.type, writes.amount, writes.balance, writes.held,
                    writes.external_id AS "externalId", writes.hold_id AS "holdId",
                    writes.metadata, writes.at, writes.batch_id AS "pendingPostingId",
                    batches.journal_id AS "journalId"
               FROM (
                 SELECT wallet_id FROM wallets
                  WHERE ledger_id = $1 AND caller_key = $2
                  LIMIT 1
               ) AS owner
               CROSS JOIN LATERAL (
                 SELECT * FROM wallet_writes
                  WHERE ledger_id = $1 AND wallet_id = owner.wallet_id AND seq > $3
                  ORDER BY seq LIMIT $4
               ) AS writes
               LEFT JOIN LATERAL (
                 SELECT journal_id FROM wallet_batches
                  WHERE ledger_id = $1 AND batch_id = writes.batch_id
                  LIMIT 1
               ) AS batches ON true
              ORDER BY writes.seq`,
    },
    [ledgerId, callerKey, page.afterSeq, page.limit],
  );
}

/** Of pending postings, those that have been posted, with their entries. */
export async function listPostedBatches(
  sender: StatementSender,
  ledgerId: string,
  pendingPostingIds: readonly string[],
): Promise<{ pendingPostingId: string; journalId: string }[]> {
  if (pendingPostingIds.length === 0) return [];
  return sender.send(
    {
      name: "list_posted_batches",
      text: `SELECT batches.batch_id AS "pendingPostingId", batches.journal_id AS "journalId"
               FROM unnest($2::uuid[]) AS wanted (batch_id)
               CROSS JOIN LATERAL (
                 SELECT batch_id, journal_id FROM wallet_batches
                  WHERE ledger_id = $1 AND batch_id = wanted.batch_id
                    AND journal_id IS NOT NULL
                  LIMIT 1
               ) AS batches`,
    },
    [ledgerId, pendingPostingIds],
  );
}

/** What waits to be posted of a wallet. */
export async function listPendingPostingIds(
  sender: StatementSender,
  ledgerId: string,
  walletId: string,
): Promise<string[]> {
  const rows = await sender.send<{ pendingPostingId: string }>(
    {
      name: "list_pending_posting_ids",
      text: `SELECT batch_id AS "pendingPostingId" FROM wallet_batches
              WHERE ledger_id = $1 AND journal_id IS NULL AND $2 = ANY (wallet_ids)`,
    },
    [ledgerId, walletId],
  );
  return rows.map(({ pendingPostingId }) => pendingPostingId);
}

/** The writes that an entry posts, by wallet and seq, and how many there are. */
export async function listPostedWrites(
  sender: StatementSender,
  ledgerId: string,
  journalId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ writes: (WalletHistoryRow & { callerKey: string })[]; total: number }> {
  const [counted, writes] = await Promise.all([
    sender.send<{ total: number }>(
      {
        name: "count_posted_writes",
        text: `SELECT coalesce(sum(write_count), 0)::bigint AS total FROM wallet_batches
                WHERE ledger_id = $1 AND journal_id = $2`,
      },
      [ledgerId, journalId],
    ),
    sender.send<WalletHistoryRow & { callerKey: string }>(
      {
        name: "list_posted_writes",
        text: `SELECT wallets.caller_key AS "callerKey", writes.seq, writes.type, writes.amount,
                      writes.balance, writes.held, writes.external_id AS "externalId",
                      writes.hold_id AS "holdId", writes.metadata, writes.at,
                      writes.batch_id AS "pendingPostingId", batches.journal_id AS "journalId"
                 FROM wallet_batches AS batches
                 CROSS JOIN LATERAL unnest(batches.wallet_ids, batches.first_seqs, batches.last_seqs)
                   AS spans (wallet_id, first_seq, last_seq)
                 JOIN wallet_writes AS writes
                   ON writes.ledger_id = $1 AND writes.wallet_id = spans.wallet_id
                  AND writes.seq BETWEEN spans.first_seq AND spans.last_seq
                  AND writes.batch_id = batches.batch_id
                 JOIN wallets
                   ON wallets.ledger_id = $1 AND wallets.wallet_id = spans.wallet_id
                WHERE batches.ledger_id = $1 AND batches.journal_id = $2
                ORDER BY wallets.caller_key, writes.seq OFFSET $3 LIMIT $4`,
      },
      [ledgerId, journalId, page.offset, page.limit],
    ),
  ]);
  return { writes, total: counted[0]?.total ?? 0 };
}

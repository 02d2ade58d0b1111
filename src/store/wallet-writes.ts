// The logs of wallets: a row for each change, expiries too.
import * as z from "zod";
import { walletWriteTypes, type WalletLogEntry } from "../core/wallet.ts";
import { countRow, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { withKeyConflict } from "./database/errors.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const firstUseRow = z.object({
  callerKey: z.string(),
  externalId: z.string(),
  holdId: z.string().nullable(),
  transferId: z.string().nullable(),
});

/**
 * Of the externalIds named (each with its wallet's key), those in use, and the hold or the transfer that the write made.
 * The wallet is named by the bytes of its id, which only the index of externalIds has. By the id itself, with
 * statistics from before a log grew, the planner may take the primary key and read the whole log for each externalId.
 */
export async function listWritesByExternalId(
  connection: Connection,
  ledgerId: string,
  keys: readonly { readonly callerKey: string; readonly externalId: string }[],
): Promise<z.output<typeof firstUseRow>[]> {
  if (keys.length === 0) return [];
  return connection.any(sql.type(firstUseRow)`
    SELECT wanted.caller_key AS "callerKey", wanted.external_id AS "externalId",
           CASE WHEN writes.type = 'reserve' THEN writes.hold_id END AS "holdId",
           writes.transfer_id AS "transferId"
      FROM unnest(
        ${column(keys, ({ callerKey }) => callerKey, "text")},
        ${column(keys, ({ externalId }) => externalId, "text")}) AS wanted (caller_key, external_id)
      CROSS JOIN LATERAL (
        SELECT wallet_id FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = wanted.caller_key
         LIMIT 1
      ) AS owner
      CROSS JOIN LATERAL (
        SELECT type, hold_id, transfer_id FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND uuid_send(wallet_id) = uuid_send(owner.wallet_id)
           AND external_id = wanted.external_id
         LIMIT 1
      ) AS writes`);
}

/** Whether rows of wallets' logs are all there: these, not others that took their seqs, or did the same at another time. */
export async function hasWalletWrites(
  connection: Connection,
  ledgerId: string,
  writes: readonly Pick<
    WalletLogEntry,
    "walletId" | "seq" | "type" | "holdId" | "at" | "transferId" | "pendingPostingId"
  >[],
): Promise<boolean> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT count(*)::integer AS count
      FROM unnest(
        ${column(writes, ({ walletId }) => walletId, "uuid")},
        ${column(writes, ({ seq }) => seq, "int8")},
        ${column(writes, ({ type }) => type, "text")},
        ${column(writes, ({ holdId }) => holdId, "uuid")},
        ${column(writes, ({ at }) => at, "timestamptz")},
        ${column(writes, ({ transferId }) => transferId, "uuid")},
        ${column(writes, ({ pendingPostingId }) => pendingPostingId, "uuid")})
        AS wanted (wallet_id, seq, type, hold_id, at, transfer_id, batch_id)
      CROSS JOIN LATERAL (
        SELECT type, hold_id, at, transfer_id, batch_id FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND wallet_id = wanted.wallet_id AND seq = wanted.seq
         LIMIT 1
      ) AS found
     WHERE found.type = wanted.type AND found.at = wanted.at
       AND found.hold_id IS NOT DISTINCT FROM wanted.hold_id
       AND found.transfer_id IS NOT DISTINCT FROM wanted.transfer_id
       AND found.batch_id IS NOT DISTINCT FROM wanted.batch_id`);
  return count === writes.length;
}

/** Appends to the logs of wallets. Throws KeyConflict when an externalId is in use. */
export function insertWalletWrites(
  connection: Connection,
  ledgerId: string,
  writes: readonly WalletLogEntry[],
): Promise<unknown> {
  // Wallet by wallet, as both indexes have them: neighbours go to one page of each.
  const rows = [...writes].sort((one, other) => compareIds(one.walletId, other.walletId));
  return withKeyConflict(
    "wallet_writes_external_id_key",
    connection.run(command`
      INSERT INTO wallet_writes ${newRows(ledgerId, {
        wallet_id: column(rows, ({ walletId }) => walletId, "uuid"),
        seq: column(rows, ({ seq }) => seq, "int8"),
        type: column(rows, ({ type }) => type, "text"),
        amount: column(rows, ({ amount }) => amount, "numeric"),
        balance: column(rows, ({ balance }) => balance, "numeric"),
        held: column(rows, ({ held }) => held, "numeric"),
        external_id: column(rows, ({ externalId }) => externalId, "text"),
        hold_id: column(rows, ({ holdId }) => holdId, "uuid"),
        metadata: column(rows, ({ metadata }) => metadata, "text"),
        at: column(rows, ({ at }) => at, "timestamptz"),
        batch_id: column(rows, ({ pendingPostingId }) => pendingPostingId, "uuid"),
        transfer_id: column(rows, ({ transferId }) => transferId, "uuid"),
        counterparty: column(rows, ({ counterparty }) => counterparty, "text"),
      })}`),
  );
}

function compareIds(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** An entry of a wallet's log with the journal entry that it was posted with, once it was. */
export type PostedWalletLogEntry = WalletLogEntry & { readonly journalId: string | null };

/** A row of a wallet's log, by the names of its type. */
export const walletWriteRow = z.object({
  walletId: z.string(),
  seq: z.number(),
  type: z.enum(walletWriteTypes),
  amount: z.bigint(),
  balance: z.bigint(),
  held: z.bigint(),
  externalId: z.string().nullable(),
  holdId: z.string().nullable(),
  metadata: z.string().nullable(),
  at: timestampColumn,
  transferId: z.string().nullable(),
  counterparty: z.string().nullable(),
  pendingPostingId: z.string().nullable(),
});

export const logRow = walletWriteRow.extend({
  callerKey: z.string(),
  journalId: z.string().nullable(),
}) satisfies z.ZodType<PostedWalletLogEntry>;

/** Columns of a log entry `writes` of a wallet `owner`, with its pending posting `postings`. */
export const logColumns = sql.fragment`
  owner.caller_key AS "callerKey", owner.wallet_id AS "walletId", writes.seq, writes.type,
  writes.amount, writes.balance, writes.held, writes.external_id AS "externalId",
  writes.hold_id AS "holdId", writes.metadata, writes.at, writes.transfer_id AS "transferId",
  writes.counterparty, writes.batch_id AS "pendingPostingId",
  postings.journal_id AS "journalId"`;

/** A wallet's log after a seq, in order; empty for a wallet that was never written. */
export async function listWalletHistory(
  connection: Connection,
  ledgerId: string,
  callerKey: string,
  page: { readonly afterSeq: number; readonly limit: number },
): Promise<PostedWalletLogEntry[]> {
  return connection.any(sql.type(logRow)`
    SELECT ${logColumns}
      FROM (
        SELECT caller_key, wallet_id FROM wallets
         WHERE ledger_id = ${ledgerId} AND caller_key = ${callerKey}
         LIMIT 1
      ) AS owner
      CROSS JOIN LATERAL (
        SELECT * FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND wallet_id = owner.wallet_id AND seq > ${page.afterSeq}
         ORDER BY seq LIMIT ${page.limit}
      ) AS writes
      LEFT JOIN LATERAL (
        SELECT journal_id FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND batch_id = writes.batch_id
         LIMIT 1
      ) AS postings ON true
     ORDER BY writes.seq`);
}

const dayDebitRow = z.object({ walletId: z.string(), amount: z.bigint() });

/** What was taken out of wallets on a UTC day, each with its day: the last rows of their logs, which are all that is read. */
export async function sumDayDebits(
  connection: Connection,
  ledgerId: string,
  days: readonly { readonly walletId: string; readonly day: string }[],
): Promise<z.output<typeof dayDebitRow>[]> {
  if (days.length === 0) return [];
  return connection.any(sql.type(dayDebitRow)`
    SELECT wanted.wallet_id AS "walletId", taken.amount
      FROM unnest(
        ${column(days, ({ walletId }) => walletId, "uuid")},
        ${column(days, ({ day }) => `${day}T00:00:00Z`, "timestamptz")}) AS wanted (wallet_id, begins_at)
      -- Rows are in the order of their times: backwards to the last one of an earlier day.
      CROSS JOIN LATERAL (
        SELECT coalesce(max(seq), 0) AS seq
          FROM (SELECT seq FROM wallet_writes
                 WHERE ledger_id = ${ledgerId} AND wallet_id = wanted.wallet_id
                   AND at < wanted.begins_at
                 ORDER BY seq DESC LIMIT 1) AS last
      ) AS earlier
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount), 0) AS amount FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND wallet_id = wanted.wallet_id AND seq > earlier.seq
           AND type IN ('debit', 'commit', 'transfer-out')
      ) AS taken`);
}

const seqRow = z.object({ seq: z.number() });

/** The seq of the last write of a wallet's log up to a seq, expiries left out; 0 where there is none. */
export async function findLastWriteSeq(
  connection: Connection,
  ledgerId: string,
  walletId: string,
  upToSeq: number,
): Promise<number> {
  const row = await connection.maybeOne(sql.type(seqRow)`
    SELECT seq FROM wallet_writes
     WHERE ledger_id = ${ledgerId} AND wallet_id = ${walletId} AND seq <= ${upToSeq}
       AND type <> 'expire'
     ORDER BY seq DESC LIMIT 1`);
  return row?.seq ?? 0;
}

const totalRow = z.object({ total: z.number() });

/** The writes that an entry posts, by wallet and seq, and how many there are. */
export async function listPostedWrites(
  connection: Connection,
  ledgerId: string,
  journalId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ writes: PostedWalletLogEntry[]; total: number }> {
  const { total } = await connection.one(sql.type(totalRow)`
    SELECT coalesce(sum(write_count), 0)::bigint AS total FROM wallet_batches
     WHERE ledger_id = ${ledgerId} AND journal_id = ${journalId}`);
  const writes = await connection.any(sql.type(logRow)`
    SELECT ${logColumns}
      FROM wallet_batches AS postings
      CROSS JOIN LATERAL unnest(postings.wallet_ids, postings.first_seqs, postings.last_seqs)
        AS spans (wallet_id, first_seq, last_seq)
      -- Span by span: joined, the whole log of a wallet may be read for each.
      CROSS JOIN LATERAL (
        SELECT * FROM wallet_writes
         WHERE ledger_id = ${ledgerId} AND wallet_id = spans.wallet_id
           AND seq BETWEEN spans.first_seq AND spans.last_seq AND batch_id = postings.batch_id
        OFFSET 0
      ) AS writes
      CROSS JOIN LATERAL (
        SELECT caller_key, wallet_id FROM wallets
         WHERE ledger_id = ${ledgerId} AND wallet_id = spans.wallet_id
         LIMIT 1
      ) AS owner
     WHERE postings.ledger_id = ${ledgerId} AND postings.journal_id = ${journalId}
     ORDER BY owner.caller_key, writes.seq OFFSET ${page.offset} LIMIT ${page.limit}`);
  return { writes, total };
}

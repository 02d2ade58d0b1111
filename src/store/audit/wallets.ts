// What an audit reads of wallets: wallets and their logs in pages, and what belongs to no wallet or to no row of a log.
import * as z from "zod";
import type { WalletWriteType } from "../../core/wallet.ts";
import { foundRow, type FoundRow } from "./journal.ts";
import { readPages, withinBytes } from "../pages.ts";
import { columns, listByColumns, valueAt, type ColumnsOf } from "../rows-by-columns.ts";
import { timestampColumn } from "../columns.ts";
import type { Connection } from "../database/connection.ts";
import { sql } from "../database/statement.ts";

const rowsPerPage = 1_000;

const walletRow = z.object({
  walletId: z.string(),
  callerKey: z.string(),
  assetCode: z.string(),
  balance: z.bigint(),
  held: z.bigint(),
  lastSeq: z.number(),
  lastAt: timestampColumn,
  /** Whether `lastAt` or `frozenAt` is finer than a millisecond, which no reader would see. */
  isFinerThanShown: z.boolean(),
  logHash: z.string().nullable(),
  chainedAfter: z.number().nullable(),
  frozenAt: timestampColumn.nullable(),
  debitedOn: z.string().nullable(),
  debited: z.bigint().nullable(),
  digest: z.string().nullable(),
  activeHolds: z.bigint(),
});

/** A wallet with the digest of what is older than its chain and the sum of the holds that are active. */
export type AuditedWallet = Readonly<z.output<typeof walletRow>>;

const leastId = "00000000-0000-0000-0000-000000000000";

/** All wallets of a ledger in pages, by id. */
export function readAuditedWallets(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly AuditedWallet[], void> {
  return readPages<AuditedWallet>(rowsPerPage, (last, limit) =>
    connection.any(sql.type(walletRow)`
      SELECT wallets.wallet_id AS "walletId", caller_key AS "callerKey",
             asset_code AS "assetCode", balance, held, last_seq AS "lastSeq", last_at AS "lastAt",
             (last_at <> date_trunc('milliseconds', last_at)
               OR coalesce(frozen_at <> date_trunc('milliseconds', frozen_at), false))
               AS "isFinerThanShown",
             encode(log_hash, 'hex') AS "logHash", chained_after AS "chainedAfter",
             frozen_at AS "frozenAt", debited_on::text AS "debitedOn", debited,
             (SELECT encode(digest, 'hex') FROM wallet_log_digests AS digests
               WHERE digests.ledger_id = ${ledgerId}
                 AND digests.wallet_id = wallets.wallet_id) AS digest,
             (SELECT coalesce(sum(amount), 0) FROM wallet_holds AS holds
               WHERE holds.ledger_id = ${ledgerId} AND holds.wallet_id = wallets.wallet_id
                 AND status = 'active') AS "activeHolds"
        FROM wallets WHERE ledger_id = ${ledgerId} AND wallet_id > ${last?.walletId ?? leastId}
       ORDER BY wallet_id LIMIT ${limit}`),
  );
}

const writeRow = z.object({
  walletId: columns.text,
  seq: columns.integer,
  /** Unchecked: one that there is not is a finding. */
  type: columns.text as unknown as z.ZodType<WalletWriteType[]>,
  amount: columns.amount,
  balance: columns.amount,
  held: columns.amount,
  externalId: columns.textOrNull,
  holdId: columns.textOrNull,
  metadata: columns.textOrNull,
  at: columns.time,
  isFinerThanShown: columns.boolean,
  transferId: columns.textOrNull,
  counterparty: columns.textOrNull,
  pendingPostingId: columns.textOrNull,
  /** Of its pending posting. */
  ruleVersion: columns.integerOrNull,
  /** Of the hold that it makes. */
  expiresAt: columns.timeOrNull,
  /** Of the hold that it is about; null where there is none, or one that is not there. */
  holdAmount: columns.amountOrNull,
  holdStatus: columns.textOrNull,
});

/** A row of a wallet's log, with the hold that it is about. */
export type AuditedWrite = ReturnType<typeof writeAt>;

function writeAt(found: ColumnsOf<typeof writeRow>, at: number) {
  return {
    walletId: valueAt(found.walletId, at),
    seq: valueAt(found.seq, at),
    type: valueAt(found.type, at),
    amount: valueAt(found.amount, at),
    balance: valueAt(found.balance, at),
    held: valueAt(found.held, at),
    externalId: valueAt(found.externalId, at),
    holdId: valueAt(found.holdId, at),
    metadata: valueAt(found.metadata, at),
    at: valueAt(found.at, at),
    isFinerThanShown: valueAt(found.isFinerThanShown, at),
    transferId: valueAt(found.transferId, at),
    counterparty: valueAt(found.counterparty, at),
    pendingPostingId: valueAt(found.pendingPostingId, at),
    ruleVersion: valueAt(found.ruleVersion, at),
    expiresAt: valueAt(found.expiresAt, at),
    holdAmount: valueAt(found.holdAmount, at),
    holdStatus: valueAt(found.holdStatus, at),
  };
}

/** The logs of all wallets of a ledger in pages, by wallet and seq. */
export function readAuditedWrites(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly AuditedWrite[], void> {
  return readPages(rowsPerPage, (last: AuditedWrite | undefined, limit) =>
    listByColumns(
      connection,
      writeRow,
      sql.fragment`
      SELECT writes.wallet_id AS "walletId", seq, type, writes.amount::text AS amount,
             balance::text AS balance, held::text AS held, external_id AS "externalId",
             writes.hold_id AS "holdId", metadata, at::text AS at,
             (at <> date_trunc('milliseconds', at)
               OR coalesce(expires_at <> date_trunc('milliseconds', expires_at), false))
               AS "isFinerThanShown",
             transfer_id AS "transferId", counterparty,
             batch_id AS "pendingPostingId", rule_version AS "ruleVersion",
             CASE WHEN type = 'reserve' THEN expires_at END::text AS "expiresAt",
             holds.amount::text AS "holdAmount", holds.status AS "holdStatus"
        FROM (${withinBytes(
          sql.fragment`
            SELECT * FROM wallet_writes
             WHERE ledger_id = ${ledgerId}
               AND (wallet_id, seq) > (${last?.walletId ?? leastId}::uuid,
                                       ${last?.seq ?? Number.MIN_SAFE_INTEGER}::bigint)
             ORDER BY wallet_id, seq LIMIT ${limit}`,
          sql.fragment`octet_length(metadata)`,
          sql.fragment`wallet_id, seq`,
        )}) AS writes
        LEFT JOIN wallet_holds AS holds
          ON holds.ledger_id = ${ledgerId} AND holds.hold_id = writes.hold_id
         AND holds.wallet_id = writes.wallet_id
        LEFT JOIN LATERAL (
          SELECT rule_version FROM wallet_batches AS batches
           WHERE batches.ledger_id = ${ledgerId} AND batches.batch_id = writes.batch_id
           LIMIT 1
        ) AS postings ON true
       ORDER BY writes.wallet_id, seq`,
      writeAt,
    ),
  );
}

/** Holds that no row of their wallet's log makes. */
export function listStrayHolds(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT 'hold ' || hold_id AS where,
           'of wallet ' || wallet_id || ' is not in the log of that wallet' AS what,
           count(*) OVER () AS total
      FROM wallet_holds AS holds
     WHERE ledger_id = ${ledgerId} AND NOT EXISTS (
             SELECT 1 FROM wallet_writes AS writes
              WHERE writes.ledger_id = ${ledgerId} AND writes.wallet_id = holds.wallet_id
                AND writes.hold_id = holds.hold_id AND writes.type = 'reserve')
     ORDER BY hold_id LIMIT 20`);
}

/** Digests of logs of wallets that are not there. */
export function listStrayDigests(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT 'wallet ' || wallet_id AS where, 'has a digest and is not there' AS what,
           count(*) OVER () AS total
      FROM wallet_log_digests AS digests
     WHERE ledger_id = ${ledgerId} AND NOT EXISTS (
             SELECT 1 FROM wallets
              WHERE wallets.ledger_id = ${ledgerId} AND wallets.wallet_id = digests.wallet_id)
     ORDER BY wallet_id LIMIT 20`);
}

/** Transfers that are not one row in the log of each of two wallets, which say the same of it. */
export function listTransferFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH halves AS (
      SELECT transfer_id, type, writes.wallet_id, caller_key, counterparty, asset_code, amount, metadata
        FROM wallet_writes AS writes
        LEFT JOIN wallets ON wallets.ledger_id = ${ledgerId} AND wallets.wallet_id = writes.wallet_id
       WHERE writes.ledger_id = ${ledgerId} AND transfer_id IS NOT NULL
    ), counted AS (
      SELECT transfer_id, count(*) FILTER (WHERE type = 'transfer-out') AS outs,
             count(*) FILTER (WHERE type = 'transfer-in') AS ins, count(*) AS halves
        FROM halves GROUP BY transfer_id
    ), compared AS (
      SELECT counted.transfer_id,
             CASE
               WHEN counted.halves <> 2 OR outs <> 1 OR ins <> 1
               THEN 'takes out in ' || outs || ' rows and adds in ' || ins
               WHEN paid.wallet_id = received.wallet_id THEN 'is from a wallet to itself'
               WHEN paid.counterparty IS DISTINCT FROM received.caller_key
                    OR received.counterparty IS DISTINCT FROM paid.caller_key
               THEN 'names other wallets than those whose logs have it'
               WHEN paid.amount <> received.amount
               THEN 'takes out ' || paid.amount || ' and adds ' || received.amount
               WHEN paid.asset_code IS DISTINCT FROM received.asset_code
               THEN 'is from one asset to another'
               WHEN paid.metadata IS DISTINCT FROM received.metadata THEN 'has two metadata'
             END AS what
        FROM counted
        LEFT JOIN halves AS paid
          ON paid.transfer_id = counted.transfer_id AND paid.type = 'transfer-out'
        LEFT JOIN halves AS received
          ON received.transfer_id = counted.transfer_id AND received.type = 'transfer-in'
    )
    SELECT DISTINCT 'transfer ' || transfer_id AS where, what, count(*) OVER () AS total
      FROM compared WHERE what IS NOT NULL ORDER BY 1 LIMIT 20`);
}

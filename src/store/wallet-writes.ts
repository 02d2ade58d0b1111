// Statements of a batch of wallet writes, in the order in which a transaction sends them: lock, read,
// record. Every one names the ledger first.
import type { AssetRule } from "../core/asset.ts";
import type { NewPendingPosting } from "../core/wallet-batch.ts";
import type { Hold, Wallet, WalletLogEntry } from "../core/wallet.ts";
import { namingTakenKey } from "./database-errors.ts";
import type { StatementSender } from "./write-connections.ts";

/** Locks wallets by key. Keys come sorted, so that two batches take locks in one order. */
export async function lockWallets(
  sender: StatementSender,
  ledgerId: string,
  callerKeys: readonly string[],
): Promise<Wallet[]> {
  return sender.send<Wallet>(
    {
      name: "lock_wallets",
      text: `SELECT locked.wallet_id AS "walletId", locked.caller_key AS "callerKey",
                    locked.asset_code AS "assetCode", locked.balance, locked.held,
                    locked.last_seq AS "lastSeq", locked.last_at AS "lastAt"
               FROM unnest($2::text[]) AS wanted (caller_key)
               CROSS JOIN LATERAL (
                 SELECT * FROM wallets
                  WHERE ledger_id = $1 AND caller_key = wanted.caller_key FOR UPDATE
               ) AS locked`,
    },
    [ledgerId, callerKeys],
  );
}

/** The newest rules of assets, where they have one. */
export async function listAssetRules(
  sender: StatementSender,
  ledgerId: string,
  assetCodes: readonly string[],
): Promise<AssetRule[]> {
  if (assetCodes.length === 0) return [];
  return sender.send<AssetRule>(
    {
      name: "list_asset_rules",
      text: `SELECT newest.asset_code AS "assetCode", newest.version,
                    newest.wallets_account AS "walletsAccount",
                    newest.clearing_account AS "clearingAccount", newest.rate::text AS rate,
                    newest.exponent, newest.overdraft_limit AS "overdraftLimit"
               FROM unnest($2::text[]) AS wanted (asset_code)
               CROSS JOIN LATERAL (
                 SELECT * FROM asset_rules
                  WHERE ledger_id = $1 AND asset_code = wanted.asset_code
                  ORDER BY version DESC LIMIT 1
               ) AS newest`,
    },
    [ledgerId, assetCodes],
  );
}

/** Of the wallets' holds, those that are active in the log. */
export async function listActiveHolds(
  sender: StatementSender,
  ledgerId: string,
  walletIds: readonly string[],
): Promise<Hold[]> {
  if (walletIds.length === 0) return [];
  return sender.send<Hold>(
    {
      name: "list_active_holds",
      text: `SELECT holds.hold_id AS "holdId", holds.wallet_id AS "walletId", holds.amount,
                    holds.expires_at AS "expiresAt", holds.status
               FROM unnest($2::uuid[]) AS wanted (wallet_id)
               CROSS JOIN LATERAL (
                 SELECT * FROM wallet_holds
                  WHERE ledger_id = $1 AND wallet_id = wanted.wallet_id AND status = 'active'
                  ORDER BY expires_at, hold_id
               ) AS holds`,
    },
    [ledgerId, walletIds],
  );
}

/** Holds by id, whatever became of them. */
export async function listHolds(
  sender: StatementSender,
  ledgerId: string,
  holdIds: readonly string[],
): Promise<Hold[]> {
  if (holdIds.length === 0) return [];
  return sender.send<Hold>(
    {
      name: "list_holds",
      text: `SELECT holds.hold_id AS "holdId", holds.wallet_id AS "walletId", holds.amount,
                    holds.expires_at AS "expiresAt", holds.status
               FROM unnest($2::uuid[]) AS wanted (hold_id)
               CROSS JOIN LATERAL (
                 SELECT * FROM wallet_holds
                  WHERE ledger_id = $1 AND hold_id = wanted.hold_id
                  LIMIT 1
               ) AS holds`,
    },
    [ledgerId, holdIds],
  );
}

/**
 * Of the externalIds named (each with its wallet's key), those in use, and the hold that the write made.
 * The wallet is named by the bytes of its id, as only the key of externalIds has it: by the id itself the
 * planner could take the primary key, which it thinks as good as long as statistics are from before a
 * wallet's log grew, and would read the whole log for each externalId.
 */
export async function listKnownWrites(
  sender: StatementSender,
  ledgerId: string,
  keys: readonly { readonly callerKey: string; readonly externalId: string }[],
): Promise<{ callerKey: string; externalId: string; holdId: string | null }[]> {
  if (keys.length === 0) return [];
  return sender.send(
    {
      name: "list_known_writes",
      text: `SELECT wanted.caller_key AS "callerKey", wanted.external_id AS "externalId",
                    writes.hold_id AS "holdId"
               FROM unnest($2::text[], $3::text[]) AS wanted (caller_key, external_id)
               CROSS JOIN LATERAL (
                 SELECT wallet_id FROM wallets
                  WHERE ledger_id = $1 AND caller_key = wanted.caller_key
                  LIMIT 1
               ) AS owner
               CROSS JOIN LATERAL (
                 SELECT hold_id FROM wallet_writes
                  WHERE ledger_id = $1 AND uuid_send(wallet_id) = uuid_send(owner.wallet_id)
                    AND external_id = wanted.external_id
                  LIMIT 1
               ) AS writes`,
    },
    [ledgerId, keys.map(({ callerKey }) => callerKey), keys.map(({ externalId }) => externalId)],
  );
}

/** Whether rows of wallets' logs are all there: these, not others that took their seqs. */
export async function hasWalletWrites(
  sender: StatementSender,
  ledgerId: string,
  writes: readonly Pick<
    WalletLogEntry,
    "walletId" | "seq" | "type" | "holdId" | "pendingPostingId"
  >[],
): Promise<boolean> {
  const [counted] = await sender.send<{ count: number }>(
    {
      name: "count_wallet_writes",
      text: `SELECT count(*)::integer AS count
               FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::uuid[], $6::uuid[])
                 AS wanted (wallet_id, seq, type, hold_id, batch_id)
               CROSS JOIN LATERAL (
                 SELECT type, hold_id, batch_id FROM wallet_writes
                  WHERE ledger_id = $1 AND wallet_id = wanted.wallet_id AND seq = wanted.seq
                  LIMIT 1
               ) AS found
              WHERE found.type = wanted.type
                AND found.hold_id IS NOT DISTINCT FROM wanted.hold_id
                AND found.batch_id IS NOT DISTINCT FROM wanted.batch_id`,
    },
    [
      ledgerId,
      writes.map(({ walletId }) => walletId),
      writes.map(({ seq }) => seq),
      writes.map(({ type }) => type),
      writes.map(({ holdId }) => holdId),
      writes.map(({ pendingPostingId }) => pendingPostingId),
    ],
  );
  return counted?.count === writes.length;
}

/** Makes wallets, in the order of their keys. Throws KeyTaken when another writer made one meanwhile. */
export function insertWallets(
  sender: StatementSender,
  ledgerId: string,
  wallets: readonly Wallet[],
): Promise<unknown> {
  if (wallets.length === 0) return Promise.resolve();
  return namingTakenKey(
    "wallets_pkey",
    sender.send(
      {
        name: "insert_wallets",
        text: `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held,
                                    last_seq, last_at)
               SELECT $1::uuid, new.*
                 FROM unnest($2::text[], $3::uuid[], $4::text[], $5::numeric[], $6::numeric[],
                             $7::bigint[], $8::timestamptz[]) AS new`,
      },
      [
        ledgerId,
        wallets.map(({ callerKey }) => callerKey),
        wallets.map(({ walletId }) => walletId),
        wallets.map(({ assetCode }) => assetCode),
        ...walletFigures(wallets),
      ],
    ),
  );
}

/** Moves wallets that are locked to their new figures; being locked, they stay where they are (ctid). */
export function updateWallets(
  sender: StatementSender,
  ledgerId: string,
  wallets: readonly Wallet[],
): Promise<unknown> {
  if (wallets.length === 0) return Promise.resolve();
  return sender.send(
    {
      name: "update_wallets",
      text: `UPDATE wallets
                SET balance = new.balance, held = new.held, last_seq = new.last_seq,
                    last_at = new.last_at
               FROM unnest($2::text[], $3::numeric[], $4::numeric[], $5::bigint[],
                           $6::timestamptz[])
                 AS new (caller_key, balance, held, last_seq, last_at)
               CROSS JOIN LATERAL (
                 SELECT ctid FROM wallets
                  WHERE ledger_id = $1 AND caller_key = new.caller_key
                  LIMIT 1
               ) AS locked
              WHERE wallets.ctid = locked.ctid`,
    },
    [ledgerId, wallets.map(({ callerKey }) => callerKey), ...walletFigures(wallets)],
  );
}

function walletFigures(wallets: readonly Wallet[]): unknown[][] {
  return [
    wallets.map(({ balance }) => balance.toString()),
    wallets.map(({ held }) => held.toString()),
    wallets.map(({ lastSeq }) => lastSeq),
    wallets.map(({ lastAt }) => lastAt),
  ];
}

/** Appends to the logs of wallets. Throws KeyTaken when an externalId is in use. */
export function insertWalletWrites(
  sender: StatementSender,
  ledgerId: string,
  writes: readonly WalletLogEntry[],
): Promise<unknown> {
  return namingTakenKey(
    "wallet_writes_external_id_key",
    sender.send(
      {
        name: "insert_wallet_writes",
        text: `INSERT INTO wallet_writes
                 (ledger_id, wallet_id, seq, type, amount, balance, held, external_id, hold_id,
                  metadata, at, batch_id)
               SELECT $1::uuid, new.*
                 FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::numeric[], $6::numeric[],
                             $7::numeric[], $8::text[], $9::uuid[], $10::text[],
                             $11::timestamptz[], $12::uuid[]) AS new`,
      },
      [
        ledgerId,
        writes.map(({ walletId }) => walletId),
        writes.map(({ seq }) => seq),
        writes.map(({ type }) => type),
        writes.map(({ amount }) => amount.toString()),
        writes.map(({ balance }) => balance.toString()),
        writes.map(({ held }) => held.toString()),
        writes.map(({ externalId }) => externalId),
        writes.map(({ holdId }) => holdId),
        writes.map(({ metadata }) => metadata),
        writes.map(({ at }) => at),
        writes.map(({ pendingPostingId }) => pendingPostingId),
      ],
    ),
  );
}

/** Makes holds, or moves those that exist to their new status. */
export function upsertHolds(
  sender: StatementSender,
  ledgerId: string,
  holds: readonly Hold[],
): Promise<unknown> {
  if (holds.length === 0) return Promise.resolve();
  return sender.send(
    {
      name: "upsert_holds",
      text: `INSERT INTO wallet_holds (ledger_id, hold_id, wallet_id, amount, expires_at, status)
             SELECT $1::uuid, new.*
               FROM unnest($2::uuid[], $3::uuid[], $4::numeric[], $5::timestamptz[], $6::text[])
                 AS new
             ON CONFLICT (ledger_id, hold_id) DO UPDATE SET status = EXCLUDED.status`,
    },
    [
      ledgerId,
      holds.map(({ holdId }) => holdId),
      holds.map(({ walletId }) => walletId),
      holds.map(({ amount }) => amount.toString()),
      holds.map(({ expiresAt }) => expiresAt),
      holds.map(({ status }) => status),
    ],
  );
}

/** Records what a batch leaves to be posted. */
export function insertPendingPostings(
  sender: StatementSender,
  ledgerId: string,
  pendingPostings: readonly NewPendingPosting[],
): Promise<unknown> {
  // One statement each: arrays of arrays would have to be of one length.
  return Promise.all(
    pendingPostings.map((pending) =>
      sender.send(
        {
          name: "insert_pending_posting",
          text: `INSERT INTO wallet_batches
                   (ledger_id, batch_id, asset_code, rule_version, side, amount, write_count,
                    accepted_from, accepted_to, wallet_ids, first_seqs, last_seqs)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        },
        [
          ledgerId,
          pending.pendingPostingId,
          pending.assetCode,
          pending.ruleVersion,
          pending.side,
          pending.amount.toString(),
          pending.writeCount,
          pending.acceptedFrom,
          pending.acceptedTo,
          pending.spans.map(({ walletId }) => walletId),
          pending.spans.map(({ firstSeq }) => firstSeq),
          pending.spans.map(({ lastSeq }) => lastSeq),
        ],
      ),
    ),
  );
}

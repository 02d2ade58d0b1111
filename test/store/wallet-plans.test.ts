// How the statements of wallets are carried out.
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { listAssetRules } from "../../src/store/asset-rules.ts";
import {
  listPendingPostingIds,
  listPostings,
  markPosted,
} from "../../src/store/pending-postings.ts";
import { listActiveHolds, listHolds } from "../../src/store/wallet-holds.ts";
import {
  findLastWriteSeq,
  hasWalletWrites,
  listWalletHistory,
  listWritesByExternalId,
} from "../../src/store/wallet-writes.ts";
import { listWalletFigures, lockWallets, updateWallets } from "../../src/store/wallets.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { describePlans, type PlannedStatement } from "../support/plans.ts";

const rowCount = 20_000;
const ledgerId = randomUUID();
const walletId = randomUUID();
const ids = Array.from({ length: 50 }, () => randomUUID());
const names = Array.from({ length: 50 }, (_, index) => String(index * 17));

/** One ledger with nearly all rows, and one wallet with nearly all writes and holds, so that neither narrows much. */
const fillings = [
  `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held, last_seq, last_at)
   SELECT $1, i::text, CASE i WHEN 17 THEN $2::uuid ELSE gen_random_uuid() END, 'USD', 1, 0, 1, now()
     FROM generate_series(1, $3::integer) AS i`,
  `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, external_id, at)
   SELECT $1, $2, i, 'credit', 1, i, 0, i::text, now() FROM generate_series(1, $3::integer) AS i`,
  `INSERT INTO wallet_holds (ledger_id, hold_id, wallet_id, amount, expires_at, status)
   SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, now(),
          CASE i % 2 WHEN 0 THEN 'active' ELSE 'expired' END
     FROM generate_series(1, $3::integer) AS i WHERE $2::uuid IS NOT NULL`,
  `INSERT INTO wallet_batches (ledger_id, batch_id, asset_code, rule_version, side, amount,
                               write_count, accepted_from, accepted_to, wallet_ids, first_seqs,
                               last_seqs, journal_id)
   SELECT $1, gen_random_uuid(), 'USD', 1, 'credit', 1, 1, now(), now(), ARRAY[$2::uuid], '{1}', '{1}',
          CASE WHEN i > 20 THEN gen_random_uuid() END
     FROM generate_series(1, $3::integer) AS i`,
  `INSERT INTO asset_rules (ledger_id, asset_code, version, wallets_account, clearing_account, rate,
                            exponent, overdraft_limit, created_at)
   SELECT $1, i::text, 1, 'w', 'c', 1, 0, 0, now()
     FROM generate_series(1, $3::integer) AS i WHERE $2::uuid IS NOT NULL`,
];

async function fill(client: Client): Promise<void> {
  await client.query("SET session_replication_role = replica");
  for (const statement of fillings) await client.query(statement, [ledgerId, walletId, rowCount]);
}

const wallet = {
  walletId,
  callerKey: "17",
  assetCode: "USD",
  balance: 1n,
  held: 0n,
  lastSeq: 2,
  lastAt: "2026-01-01T00:00:00.000Z" as Timestamp,
  logHash: "00".repeat(32),
};

const statements: readonly PlannedStatement[] = [
  {
    name: "lockWallets",
    send: (connection) => lockWallets(connection, ledgerId, names),
    scans: { wallets: ["ledger_id", "caller_key"] },
  },
  {
    name: "listWritesByExternalId",
    send: (connection) =>
      listWritesByExternalId(
        connection,
        ledgerId,
        names.map((name) => ({ callerKey: name, externalId: name })),
      ),
    scans: {
      wallets: ["ledger_id", "caller_key"],
      wallet_writes: ["ledger_id", "wallet_id", "external_id"],
    },
  },
  {
    name: "listWalletFigures",
    send: (connection) => listWalletFigures(connection, ledgerId, names),
    scans: { wallets: ["ledger_id", "caller_key"], wallet_holds: ["ledger_id", "wallet_id"] },
  },
  {
    name: "listWalletHistory",
    send: (connection) =>
      listWalletHistory(connection, ledgerId, "17", { afterSeq: 19_000, limit: 50 }),
    scans: {
      wallets: ["ledger_id", "caller_key"],
      wallet_writes: ["ledger_id", "wallet_id", "seq"],
      wallet_batches: ["ledger_id", "batch_id"],
    },
  },
  {
    name: "listActiveHolds",
    send: (connection) => listActiveHolds(connection, ledgerId, ids),
    scans: { wallet_holds: ["ledger_id", "wallet_id"] },
  },
  {
    name: "listHolds",
    send: (connection) => listHolds(connection, ledgerId, ids),
    scans: { wallet_holds: ["ledger_id", "hold_id"] },
  },
  {
    name: "listAssetRules",
    send: (connection) => listAssetRules(connection, ledgerId, names),
    scans: { asset_rules: ["ledger_id", "asset_code"] },
  },
  {
    name: "hasWalletWrites",
    send: (connection) => {
      const at = "2026-01-31T12:00:00.000Z" as Timestamp;
      const row = { type: "credit", holdId: null, at, pendingPostingId: null } as const;
      return hasWalletWrites(connection, ledgerId, [{ walletId, seq: 19_000, ...row }]);
    },
    scans: { wallet_writes: ["ledger_id", "wallet_id", "seq"] },
  },
  {
    name: "updateWallets",
    send: (connection) =>
      updateWallets(
        connection,
        ledgerId,
        names.map((callerKey) => ({ ...wallet, callerKey })),
      ),
    scans: { wallets: ["ledger_id", "caller_key"] },
  },
  {
    name: "markPosted",
    send: (connection) =>
      markPosted(
        connection,
        ledgerId,
        ids.map((pendingPostingId) => ({ pendingPostingId, journalId: pendingPostingId })),
      ),
    scans: { wallet_batches: ["ledger_id", "batch_id"] },
  },
  {
    name: "listPostings",
    send: (connection) => listPostings(connection, ledgerId, ids),
    scans: { wallet_batches: ["ledger_id", "batch_id"] },
  },
  {
    name: "findLastWriteSeq",
    send: (connection) => findLastWriteSeq(connection, ledgerId, walletId, rowCount),
    scans: { wallet_writes: ["ledger_id", "wallet_id"] },
  },
  {
    name: "listPendingPostingIds",
    send: (connection) => listPendingPostingIds(connection, ledgerId, walletId),
    scans: { wallet_batches: ["ledger_id"] },
  },
];

const tables = ["asset_rules", "wallets", "wallet_writes", "wallet_holds", "wallet_batches"];

describePlans({ tables, fill, statements });

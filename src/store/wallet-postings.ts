// Statements of posting: what waits, what has been posted, and the marks.
import type { AssetRule } from "../core/asset.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import type { PendingPosting, Posting, PostingTotal } from "../core/posting.ts";
import type { StatementSender } from "./write-connections.ts";

/** Ledgers in which something waits. */
export async function listLedgersWithPending(sender: StatementSender): Promise<string[]> {
  const rows = await sender.send<{ ledgerId: string }>(
    {
      name: "list_ledgers_with_pending",
      text: `SELECT DISTINCT ledger_id AS "ledgerId" FROM wallet_batches WHERE journal_id IS NULL`,
    },
    [],
  );
  return rows.map(({ ledgerId }) => ledgerId);
}

/** A ledger that is known to be there. */
export async function getLedgerIdentity(
  sender: StatementSender,
  ledgerId: string,
): Promise<LedgerIdentity> {
  const rows = await sender.send<LedgerIdentity>(
    {
      name: "get_ledger_identity",
      text: `SELECT ledger_id AS "ledgerId", organization_id AS "organizationId",
                    functional_currency AS "functionalCurrency"
               FROM ledgers WHERE ledger_id = $1`,
    },
    [ledgerId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error("a ledger is there");
  return row;
}

/**
 * Pending postings that have a rate, oldest first, up to a number; read under the lock of the
 * journal's head.
 */
export async function listPendingPostings(
  sender: StatementSender,
  ledgerId: string,
  limit: number,
): Promise<PendingPosting[]> {
  return sender.send<PendingPosting>(
    {
      name: "list_pending_postings",
      text: `SELECT batch_id AS "pendingPostingId", asset_code AS "assetCode", rule_version AS "ruleVersion",
                    side, amount, write_count AS "writeCount", accepted_from AS "acceptedFrom",
                    accepted_to AS "acceptedTo", to_json(wallet_ids) AS "walletIds"
               FROM wallet_batches AS waiting
              WHERE ledger_id = $1 AND journal_id IS NULL
                AND EXISTS (
                  SELECT 1 FROM asset_rules AS rules
                   WHERE rules.ledger_id = $1 AND rules.asset_code = waiting.asset_code
                     AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
              ORDER BY accepted_to LIMIT $2`,
    },
    [ledgerId, limit],
  );
}

/** Every version of every rule of a ledger. */
export async function listRuleVersions(
  sender: StatementSender,
  ledgerId: string,
): Promise<AssetRule[]> {
  return sender.send<AssetRule>(
    {
      name: "list_rule_versions",
      text: `SELECT asset_code AS "assetCode", version, wallets_account AS "walletsAccount",
                    clearing_account AS "clearingAccount", rate::text AS rate, exponent,
                    overdraft_limit AS "overdraftLimit"
               FROM asset_rules WHERE ledger_id = $1 ORDER BY asset_code, version`,
    },
    [ledgerId],
  );
}

/** What has been posted so far, by asset, version of its rule and side. */
export async function listPostingTotals(
  sender: StatementSender,
  ledgerId: string,
): Promise<PostingTotal[]> {
  return sender.send<PostingTotal>(
    {
      name: "list_posting_totals",
      text: `SELECT asset_code AS "assetCode", rule_version AS "ruleVersion", side, amount,
                    functional_amount AS "functionalAmount"
               FROM wallet_posting_totals WHERE ledger_id = $1`,
    },
    [ledgerId],
  );
}

/** Marks pending postings with the entries that hold them; under the head's lock they stay where they are (ctid). */
export function markPosted(
  sender: StatementSender,
  ledgerId: string,
  marks: readonly { readonly pendingPostingId: string; readonly journalId: string }[],
): Promise<unknown> {
  return sender.send(
    {
      name: "mark_posted",
      text: `UPDATE wallet_batches SET journal_id = marks.journal_id
               FROM unnest($2::uuid[], $3::uuid[]) AS marks (batch_id, journal_id)
               CROSS JOIN LATERAL (
                 SELECT ctid FROM wallet_batches
                  WHERE ledger_id = $1 AND batch_id = marks.batch_id
                  LIMIT 1
               ) AS waiting
              WHERE wallet_batches.ctid = waiting.ctid`,
    },
    [
      ledgerId,
      marks.map(({ pendingPostingId }) => pendingPostingId),
      marks.map(({ journalId }) => journalId),
    ],
  );
}

/** Records what has been posted so far: totals, not what is added. */
export function upsertPostingTotals(
  sender: StatementSender,
  ledgerId: string,
  totals: readonly PostingTotal[],
): Promise<unknown> {
  return sender.send(
    {
      name: "upsert_posting_totals",
      text: `INSERT INTO wallet_posting_totals
               (ledger_id, asset_code, rule_version, side, amount, functional_amount)
             SELECT $1::uuid, new.*
               FROM unnest($2::text[], $3::integer[], $4::text[], $5::numeric[], $6::numeric[])
                 AS new
             ON CONFLICT (ledger_id, asset_code, rule_version, side) DO UPDATE
                SET amount = EXCLUDED.amount, functional_amount = EXCLUDED.functional_amount`,
    },
    [
      ledgerId,
      totals.map(({ assetCode }) => assetCode),
      totals.map(({ ruleVersion }) => ruleVersion),
      totals.map(({ side }) => side),
      totals.map(({ amount }) => amount.toString()),
      totals.map(({ functionalAmount }) => functionalAmount.toString()),
    ],
  );
}

/** Records which entries are postings of wallets. */
export function insertWalletPostings(
  sender: StatementSender,
  ledgerId: string,
  postings: readonly (Pick<Posting, "assetCode" | "ruleVersion"> & {
    readonly journalId: string;
  })[],
): Promise<unknown> {
  return sender.send(
    {
      name: "insert_wallet_postings",
      text: `INSERT INTO wallet_postings (ledger_id, journal_id, asset_code, rule_version)
             SELECT $1::uuid, new.* FROM unnest($2::uuid[], $3::text[], $4::integer[]) AS new`,
    },
    [
      ledgerId,
      postings.map(({ journalId }) => journalId),
      postings.map(({ assetCode }) => assetCode),
      postings.map(({ ruleVersion }) => ruleVersion),
    ],
  );
}

/** Of the entries named, those that are postings of wallets. */
export async function listWalletPostings(
  sender: StatementSender,
  ledgerId: string,
  journalIds: readonly string[],
): Promise<string[]> {
  if (journalIds.length === 0) return [];
  const rows = await sender.send<{ journalId: string }>(
    {
      name: "list_wallet_postings",
      text: `SELECT postings.journal_id AS "journalId"
               FROM unnest($2::uuid[]) AS wanted (journal_id)
               CROSS JOIN LATERAL (
                 SELECT journal_id FROM wallet_postings
                  WHERE ledger_id = $1 AND journal_id = wanted.journal_id
                  LIMIT 1
               ) AS postings`,
    },
    [ledgerId, journalIds],
  );
  return rows.map(({ journalId }) => journalId);
}

/** Assets with pending postings that no rule gives a rate to; what only rounds to nothing has one. */
export async function listAssetsWithoutRate(
  sender: StatementSender,
  ledgerId: string,
): Promise<string[]> {
  const rows = await sender.send<{ assetCode: string }>(
    {
      name: "list_assets_without_rate",
      text: `SELECT DISTINCT asset_code AS "assetCode" FROM wallet_batches AS waiting
              WHERE ledger_id = $1 AND journal_id IS NULL
                AND NOT EXISTS (
                  SELECT 1 FROM asset_rules AS rules
                   WHERE rules.ledger_id = $1 AND rules.asset_code = waiting.asset_code
                     AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
              ORDER BY 1`,
    },
    [ledgerId],
  );
  return rows.map(({ assetCode }) => assetCode);
}

/** Assets, of all ledgers, with pending postings that wait for a first rate. */
export async function listWaitingAssets(
  sender: StatementSender,
): Promise<{ ledgerId: string; assetCode: string }[]> {
  return sender.send(
    {
      name: "list_waiting_assets",
      text: `SELECT DISTINCT ledger_id AS "ledgerId", asset_code AS "assetCode"
               FROM wallet_batches AS waiting
              WHERE journal_id IS NULL
                AND NOT EXISTS (
                  SELECT 1 FROM asset_rules AS rules
                   WHERE rules.ledger_id = waiting.ledger_id
                     AND rules.asset_code = waiting.asset_code
                     AND rules.version >= waiting.rule_version AND rules.rate IS NOT NULL)
              ORDER BY 1, 2`,
    },
    [],
  );
}

/** Gross amounts that wait, by asset. */
export async function listPendingAmounts(
  sender: StatementSender,
  ledgerId: string,
): Promise<{ assetCode: string; amount: bigint }[]> {
  return sender.send(
    {
      name: "list_pending_amounts",
      text: `SELECT asset_code AS "assetCode", sum(amount) AS amount FROM wallet_batches
              WHERE ledger_id = $1 AND journal_id IS NULL GROUP BY asset_code`,
    },
    [ledgerId],
  );
}

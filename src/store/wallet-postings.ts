// Entries that post what wallets accepted, and the totals that were posted so far.
import * as z from "zod";
import type { Posting, PostingTotal } from "../core/posting.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const totalRow = z.object({
  assetCode: z.string(),
  ruleVersion: z.number(),
  side: z.enum(["credit", "debit"]),
  amount: z.bigint(),
  functionalAmount: z.bigint(),
}) satisfies z.ZodType<PostingTotal>;

/** What has been posted so far, by asset, version of its rule and side. */
export async function listPostingTotals(
  connection: Connection,
  ledgerId: string,
): Promise<PostingTotal[]> {
  return connection.any(sql.type(totalRow)`
    SELECT asset_code AS "assetCode", rule_version AS "ruleVersion", side, amount,
           functional_amount AS "functionalAmount"
      FROM wallet_posting_totals WHERE ledger_id = ${ledgerId}`);
}

/** Records what has been posted so far: totals, not what is added. */
export function upsertPostingTotals(
  connection: Connection,
  ledgerId: string,
  totals: readonly PostingTotal[],
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO wallet_posting_totals ${newRows(ledgerId, {
      asset_code: column(totals, ({ assetCode }) => assetCode, "text"),
      rule_version: column(totals, ({ ruleVersion }) => ruleVersion, "int4"),
      side: column(totals, ({ side }) => side, "text"),
      amount: column(totals, ({ amount }) => amount, "numeric"),
      functional_amount: column(totals, ({ functionalAmount }) => functionalAmount, "numeric"),
    })}
    ON CONFLICT (ledger_id, asset_code, rule_version, side) DO UPDATE
       SET amount = EXCLUDED.amount, functional_amount = EXCLUDED.functional_amount`);
}

/** Records which entries are postings of wallets. */
export function insertWalletPostings(
  connection: Connection,
  ledgerId: string,
  postings: readonly (Pick<Posting, "assetCode" | "ruleVersion"> & {
    readonly journalId: string;
  })[],
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO wallet_postings ${newRows(ledgerId, {
      journal_id: column(postings, ({ journalId }) => journalId, "uuid"),
      asset_code: column(postings, ({ assetCode }) => assetCode, "text"),
      rule_version: column(postings, ({ ruleVersion }) => ruleVersion, "int4"),
    })}`);
}

const journalIdRow = z.object({ journalId: z.string() });

/** Of the entries named, those that are postings of wallets. */
export async function listWalletPostings(
  connection: Connection,
  ledgerId: string,
  journalIds: readonly string[],
): Promise<string[]> {
  if (journalIds.length === 0) return [];
  const rows = await connection.any(sql.type(journalIdRow)`
    SELECT postings.journal_id AS "journalId"
      FROM unnest(${sql.array(journalIds, "uuid")}) AS wanted (journal_id)
      CROSS JOIN LATERAL (
        SELECT journal_id FROM wallet_postings
         WHERE ledger_id = ${ledgerId} AND journal_id = wanted.journal_id
         LIMIT 1
      ) AS postings`);
  return rows.map(({ journalId }) => journalId);
}

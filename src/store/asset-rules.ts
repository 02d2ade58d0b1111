// Rules of assets: how wallets of an asset meet the books.
import * as z from "zod";
import type { AssetRule } from "../core/asset.ts";
import type { Timestamp } from "../core/time.ts";
import { assetCodeRow } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const assetRuleRow = z.object({
  assetCode: z.string(),
  version: z.number(),
  walletsAccount: z.string(),
  clearingAccount: z.string(),
  rate: z.string().nullable(),
  exponent: z.number(),
  overdraftLimit: z.bigint(),
  maxBalance: z.bigint().nullable(),
  dailyDebitMax: z.bigint().nullable(),
}) satisfies z.ZodType<AssetRule>;

/** Columns of a rule `rules`. */
const columns = sql.fragment`
  rules.asset_code AS "assetCode", rules.version, rules.wallets_account AS "walletsAccount",
  rules.clearing_account AS "clearingAccount", rules.rate::text AS rate, rules.exponent,
  rules.overdraft_limit AS "overdraftLimit", rules.max_balance AS "maxBalance",
  rules.daily_debit_max AS "dailyDebitMax"`;

/** The newest rules of assets, where they have one. */
export async function listAssetRules(
  connection: Connection,
  ledgerId: string,
  assetCodes: readonly string[],
): Promise<AssetRule[]> {
  const [first, ...others] = assetCodes;
  if (first === undefined) return [];
  if (others.length === 0) {
    return connection.any(sql.type(assetRuleRow)`
      SELECT ${columns} FROM asset_rules AS rules
       WHERE ledger_id = ${ledgerId} AND asset_code = ${first} ORDER BY version DESC LIMIT 1`);
  }
  return connection.any(sql.type(assetRuleRow)`
    SELECT ${columns}
      FROM unnest(${sql.array(assetCodes, "text")}) AS wanted (asset_code)
      CROSS JOIN LATERAL (
        SELECT * FROM asset_rules
         WHERE ledger_id = ${ledgerId} AND asset_code = wanted.asset_code
         ORDER BY version DESC LIMIT 1
      ) AS rules`);
}

/** Every version of every rule of a ledger. */
export async function listRuleVersions(
  connection: Connection,
  ledgerId: string,
): Promise<AssetRule[]> {
  return connection.any(sql.type(assetRuleRow)`
    SELECT ${columns} FROM asset_rules AS rules
     WHERE ledger_id = ${ledgerId} ORDER BY asset_code, version`);
}

/** Assets whose newest rule posts to an account. */
export async function listAssetsUsing(
  connection: Connection,
  ledgerId: string,
  glAccountCode: string,
): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(assetCodeRow)`
    SELECT asset_code AS "assetCode" FROM asset_rules AS rules
     WHERE ledger_id = ${ledgerId}
       AND ${glAccountCode} IN (wallets_account, clearing_account)
       AND version = (SELECT max(version) FROM asset_rules AS versions
                       WHERE versions.ledger_id = ${ledgerId}
                         AND versions.asset_code = rules.asset_code)
     ORDER BY asset_code`);
  return rows.map(({ assetCode }) => assetCode);
}

/** Records rules; one that is there already (another writer used the asset first) stays as it is. */
export function insertAssetRules(
  connection: Connection,
  ledgerId: string,
  rules: readonly AssetRule[],
  createdAt: Timestamp,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO asset_rules ${newRows(ledgerId, {
      asset_code: column(rules, ({ assetCode }) => assetCode, "text"),
      version: column(rules, ({ version }) => version, "int4"),
      wallets_account: column(rules, ({ walletsAccount }) => walletsAccount, "text"),
      clearing_account: column(rules, ({ clearingAccount }) => clearingAccount, "text"),
      rate: column(rules, ({ rate }) => rate, "numeric"),
      exponent: column(rules, ({ exponent }) => exponent, "int2"),
      overdraft_limit: column(rules, ({ overdraftLimit }) => overdraftLimit, "numeric"),
      max_balance: column(rules, ({ maxBalance }) => maxBalance, "numeric"),
      daily_debit_max: column(rules, ({ dailyDebitMax }) => dailyDebitMax, "numeric"),
      created_at: column(rules, () => createdAt, "timestamptz"),
    })}
    ON CONFLICT (ledger_id, asset_code, version) DO NOTHING`);
}

// Rules of assets: making them and the accounts that they name.
import type { AssetRule } from "../core/asset.ts";
import type { Account } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import type { StatementSender } from "./write-connections.ts";

/** Records rules; one that is there already (another writer used the asset first) stays as it is. */
export function insertAssetRules(
  sender: StatementSender,
  ledgerId: string,
  rules: readonly AssetRule[],
  createdAt: Timestamp,
): Promise<unknown> {
  return sender.send(
    {
      name: "insert_asset_rules",
      text: `INSERT INTO asset_rules (ledger_id, asset_code, version, wallets_account,
                                      clearing_account, rate, exponent, overdraft_limit, created_at)
             SELECT $1::uuid, new.*, $9::timestamptz
               FROM unnest($2::text[], $3::integer[], $4::text[], $5::text[], $6::numeric[],
                           $7::smallint[], $8::numeric[]) AS new
             ON CONFLICT (ledger_id, asset_code, version) DO NOTHING`,
    },
    [
      ledgerId,
      rules.map(({ assetCode }) => assetCode),
      rules.map(({ version }) => version),
      rules.map(({ walletsAccount }) => walletsAccount),
      rules.map(({ clearingAccount }) => clearingAccount),
      rules.map(({ rate }) => rate),
      rules.map(({ exponent }) => exponent),
      rules.map(({ overdraftLimit }) => overdraftLimit.toString()),
      createdAt,
    ],
  );
}

/** Makes accounts that are not in the chart yet; one that is there is used as it is. */
export function insertMissingAccounts(
  sender: StatementSender,
  ledgerId: string,
  accounts: readonly Account[],
  createdAt: Timestamp,
): Promise<unknown> {
  return sender.send(
    {
      name: "insert_missing_accounts",
      text: `INSERT INTO accounts (ledger_id, gl_account_code, name, type, active, created_at)
             SELECT $1::uuid, new.*, $6::timestamptz
               FROM unnest($2::text[], $3::text[], $4::text[], $5::boolean[]) AS new
             ON CONFLICT (ledger_id, gl_account_code) DO NOTHING`,
    },
    [
      ledgerId,
      accounts.map(({ glAccountCode }) => glAccountCode),
      accounts.map(({ name }) => name),
      accounts.map(({ type }) => type),
      accounts.map(({ active }) => active),
      createdAt,
    ],
  );
}

// `asset list`: the rules in force, and what waits to be posted.
import type { Environment } from "../../../config.ts";
import { newestRules } from "../../../core/asset.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { listRuleVersions } from "../../../store/asset-rules.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Column } from "../../terminal/output.ts";
import { document, readPending, type AssetDocument } from "./asset-document.ts";

export async function listAssets(flags: LedgerFlags, environment: Environment): Promise<void> {
  await onLedger(flags, environment, async (ledgerId, { output, pool }) => {
    const versions = await listRuleVersions(pool, ledgerId);
    const pending = await readPending(pool, ledgerId);
    output.list(
      newestRules(versions).map((rule) => document(rule, pending)),
      columns,
      ({ assetCode }) => assetCode,
      csvNames,
    );
  });
}

const csvNames = [
  ...["assetCode", "rate", "exponent", "walletsAccount", "clearingAccount", "overdraftLimit"],
  ...["maxBalance", "dailyDebitMax", "pending"],
] as (keyof AssetDocument)[];

const columns: readonly Column<AssetDocument>[] = [
  { title: "ASSET", value: ({ assetCode }) => assetCode },
  { title: "RATE", align: "right", value: ({ rate }) => rate ?? "none" },
  { title: "EXPONENT", align: "right", value: ({ exponent }) => String(exponent) },
  { title: "WALLETS ACCOUNT", leaveOut: 4, value: ({ walletsAccount }) => walletsAccount },
  { title: "CLEARING ACCOUNT", leaveOut: 1, value: ({ clearingAccount }) => clearingAccount },
  {
    title: "OVERDRAFT",
    align: "right",
    leaveOut: 5,
    value: (asset) => major(asset.overdraftLimit, asset),
  },
  { title: "MAX BALANCE", align: "right", leaveOut: 3, value: limitShown("maxBalance") },
  { title: "DAILY DEBITS", align: "right", leaveOut: 2, value: limitShown("dailyDebitMax") },
  { title: "PENDING", align: "right", value: (asset) => major(asset.pending, asset) },
];

function limitShown(limit: "maxBalance" | "dailyDebitMax") {
  return (asset: AssetDocument) => {
    const amount = asset[limit];
    return amount === null ? "" : major(amount, asset);
  };
}

function major(amount: string, { exponent, assetCode }: AssetDocument): string {
  return displayAmount(amount, assetCode, currencyExponents.get(assetCode) ?? exponent);
}

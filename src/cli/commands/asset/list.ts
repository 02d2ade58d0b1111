// `asset list`: the rules in force, and what waits to be posted.
import type { Environment } from "../../../config.ts";
import { formatMajorAmount } from "../../../core/money.ts";
import { listRuleVersions } from "../../../store/asset-rules.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import type { Column } from "../../terminal/output.ts";
import { document, readPending, type AssetDocument } from "./asset-document.ts";

export async function listAssets(flags: LedgerFlags, environment: Environment): Promise<void> {
  await onLedger(flags, environment, async (ledgerId, { output, pool }) => {
    const versions = await listRuleVersions(pool, ledgerId);
    const pending = await readPending(pool, ledgerId);
    // They come by asset and version: of each asset the last stands.
    const newest = new Map(versions.map((rule) => [rule.assetCode, rule]));
    output.list(
      [...newest.values()].map((rule) => document(rule, pending)),
      columns,
    );
  });
}

const columns: readonly Column<AssetDocument>[] = [
  { title: "ASSET", value: ({ assetCode }) => assetCode },
  { title: "RATE", align: "right", value: ({ rate }) => rate ?? "none" },
  { title: "EXPONENT", align: "right", value: ({ exponent }) => String(exponent) },
  { title: "WALLETS ACCOUNT", value: ({ walletsAccount }) => walletsAccount },
  { title: "CLEARING ACCOUNT", value: ({ clearingAccount }) => clearingAccount },
  { title: "OVERDRAFT", align: "right", value: (asset) => major(asset.overdraftLimit, asset) },
  { title: "PENDING", align: "right", value: (asset) => major(asset.pending, asset) },
];

/** In major units by the rule's own exponent. */
function major(amount: string, { exponent, assetCode }: AssetDocument): string {
  return `${formatMajorAmount(BigInt(amount), exponent)} ${assetCode}`;
}

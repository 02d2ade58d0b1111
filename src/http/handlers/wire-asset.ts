// The rule of an asset as it travels.
import type { AssetRule } from "../../core/asset.ts";
import type { Asset } from "../../contract/types.ts";

/** Amounts are in smallest units of the asset. */
export function wireAsset({ version: _, ...rule }: AssetRule): Asset {
  return {
    ...rule,
    overdraftLimit: rule.overdraftLimit.toString(),
    maxBalance: rule.maxBalance?.toString() ?? null,
    dailyDebitMax: rule.dailyDebitMax?.toString() ?? null,
  };
}

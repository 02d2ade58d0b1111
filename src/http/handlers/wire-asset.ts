// The rule of an asset as it travels.
import type { AssetRule } from "../../core/asset.ts";
import type { Asset } from "../../contract/types.ts";

/** Amounts are in smallest units of the asset. */
export function wireAsset({ version: _, overdraftLimit, ...rule }: AssetRule): Asset {
  return { ...rule, overdraftLimit: overdraftLimit.toString() };
}

// An asset's rule as it is printed, with what waits to be posted under it.
import type { AssetRule } from "../../../core/asset.ts";
import { listPendingAmounts } from "../../../store/pending-postings.ts";
import type { AdminContext } from "../../connection/database-context.ts";

export type AssetDocument = ReturnType<typeof document>;

/** By asset, what wallets have accepted and is not posted yet: credits and debits added up. */
export async function readPending(
  pool: AdminContext["pool"],
  ledgerId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await listPendingAmounts(pool, ledgerId);
  return new Map(rows.map(({ assetCode, amount }) => [assetCode, amount]));
}

/** Amounts are in smallest units of the asset. */
export function document(rule: AssetRule, pending: ReadonlyMap<string, bigint>) {
  const { assetCode, rate, exponent, walletsAccount, clearingAccount } = rule;
  return {
    assetCode,
    rate,
    exponent,
    walletsAccount,
    clearingAccount,
    overdraftLimit: rule.overdraftLimit.toString(),
    maxBalance: rule.maxBalance?.toString() ?? null,
    dailyDebitMax: rule.dailyDebitMax?.toString() ?? null,
    pending: (pending.get(assetCode) ?? 0n).toString(),
  };
}

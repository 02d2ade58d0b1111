// An asset's rule as it is printed, with what waits to be posted under it.
import { type AssetRule } from "../../../core/asset.ts";
import { listPendingAmounts } from "../../../store/pending-postings.ts";
import type { AdminContext } from "../../connection/database-context.ts";

/** Amounts are in smallest units of the asset. */
export interface AssetDocument {
  readonly assetCode: string;
  readonly rate: string | null;
  readonly exponent: number;
  readonly walletsAccount: string;
  readonly clearingAccount: string;
  readonly overdraftLimit: string;
  /** Accepted by wallets and not posted yet: credits and debits added up. */
  readonly pending: string;
}

export async function readPending(
  pool: AdminContext["pool"],
  ledgerId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await listPendingAmounts(pool, ledgerId);
  return new Map(rows.map(({ assetCode, amount }) => [assetCode, amount]));
}

export function document(rule: AssetRule, pending: ReadonlyMap<string, bigint>): AssetDocument {
  const { assetCode, rate, exponent, walletsAccount, clearingAccount } = rule;
  return {
    assetCode,
    rate,
    exponent,
    walletsAccount,
    clearingAccount,
    overdraftLimit: rule.overdraftLimit.toString(),
    pending: (pending.get(assetCode) ?? 0n).toString(),
  };
}

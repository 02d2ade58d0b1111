// Changing a chart of accounts while entries arrive: an account is deactivated under the ledger's lock, so that
// no entry can slip in once that has been answered.
import type { Account, AccountType } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { updateAccountActive, upsertAccounts } from "../store/accounts.ts";
import { listAssetsUsing } from "../store/asset-rules.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { withLedgerStateLocked } from "./ledger-state.ts";

/** An account of a chart that is imported; what is null is left as it is. */
export interface ChartRow {
  readonly glAccountCode: string;
  readonly name: string;
  readonly type: AccountType | null;
  readonly active: boolean | null;
}

/** Wallets are posted to the account: it can't be deactivated. */
interface AccountInUse {
  readonly outcome: "accountInUse";
  readonly glAccountCode: string;
  readonly assetCodes: readonly string[];
}

export type ActiveChange =
  | { readonly outcome: "done"; readonly account: Account }
  | { readonly outcome: "accountNotFound" }
  | AccountInUse;

export type ChartImport =
  { readonly outcome: "done"; readonly added: number; readonly updated: number } | AccountInUse;

/** Switches an account on or off. When it is off, every entry that was to be accepted has been. */
export async function setAccountActive(
  pool: Pool,
  ledgerId: string,
  glAccountCode: string,
  active: boolean,
): Promise<ActiveChange> {
  const deactivated = active ? [] : [glAccountCode];
  return deactivating(pool, ledgerId, deactivated, async (transaction) => {
    const account = await updateAccountActive(transaction, ledgerId, glAccountCode, active);
    return account === null ? { outcome: "accountNotFound" } : { outcome: "done", account };
  });
}

/** Adds accounts to a chart and updates those it has, all of them or none; nothing is ever deleted. */
export async function importAccounts(
  pool: Pool,
  ledgerId: string,
  chart: readonly ChartRow[],
  createdAt: Timestamp,
): Promise<ChartImport> {
  const deactivated = chart.flatMap((row) => (row.active === false ? row.glAccountCode : []));
  return deactivating(pool, ledgerId, deactivated, async (transaction) => ({
    outcome: "done",
    ...(await upsertAccounts(transaction, ledgerId, chart, createdAt)),
  }));
}

/**
 * Makes a change that deactivates accounts in the transaction that locks the ledger's state, which all who
 * write to the journal or make rules of assets lock too.
 */
async function deactivating<Done>(
  pool: Pool,
  ledgerId: string,
  glAccountCodes: readonly string[],
  change: (transaction: Connection) => Promise<Done>,
): Promise<Done | AccountInUse> {
  if (glAccountCodes.length === 0) return pool.transaction(change);
  return withLedgerStateLocked(pool, ledgerId, async (transaction) => {
    for (const glAccountCode of glAccountCodes) {
      const assetCodes = await listAssetsUsing(transaction, ledgerId, glAccountCode);
      if (assetCodes.length > 0) return { outcome: "accountInUse", glAccountCode, assetCodes };
    }
    return change(transaction);
  });
}

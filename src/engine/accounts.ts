// Changing a chart of accounts while entries arrive: an account is deactivated under the ledger's lock, so that
// no entry can slip in once that has been answered.
import type { Account, AccountType } from "../core/ledger.ts";
import { listAccountsByCode, updateAccountActive, upsertAccounts } from "../store/accounts.ts";
import { nameOperator } from "../store/administration-acts.ts";
import { listAssetsUsing } from "../store/asset-rules.ts";
import { readClock } from "../store/journal-heads.ts";
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

/** Wallets are posted to these accounts: they can't be deactivated. */
export interface AccountsInUse {
  readonly outcome: "accountsInUse";
  readonly uses: readonly AccountUse[];
}

export interface AccountUse {
  readonly glAccountCode: string;
  /** Whose newest rule posts to it. */
  readonly assetCodes: readonly string[];
}

export type ActiveChange =
  | { readonly outcome: "done"; readonly account: Account }
  | { readonly outcome: "accountNotFound" }
  | AccountsInUse;

export type ChartImport =
  | {
      readonly outcome: "done";
      readonly added: number;
      readonly updated: number;
      /** The accounts that were named, as they are now. */
      readonly accounts: readonly Account[];
    }
  | AccountsInUse;

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

/**
 * Adds accounts to a chart and updates those it has, all of them or none; nothing is ever deleted. `operator`: whom the
 * record of administration names; the user of the operating system unless given.
 */
export async function importAccounts(
  pool: Pool,
  ledgerId: string,
  chart: readonly ChartRow[],
  operator: string | null = null,
): Promise<ChartImport> {
  const codes = chart.map(({ glAccountCode }) => glAccountCode);
  const deactivated = chart.flatMap((row) => (row.active === false ? row.glAccountCode : []));
  return deactivating(pool, ledgerId, deactivated, async (transaction) => {
    if (operator !== null) await nameOperator(transaction, operator);
    const now = await readClock(transaction);
    const counts = await upsertAccounts(transaction, ledgerId, chart, now);
    const accounts = await listAccountsByCode(transaction, ledgerId, codes);
    return { outcome: "done", ...counts, accounts };
  });
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
): Promise<Done | AccountsInUse> {
  if (glAccountCodes.length === 0) return pool.transaction(change);
  return withLedgerStateLocked(pool, ledgerId, async (transaction) => {
    const uses: AccountUse[] = [];
    for (const glAccountCode of glAccountCodes) {
      const assetCodes = await listAssetsUsing(transaction, ledgerId, glAccountCode);
      if (assetCodes.length > 0) uses.push({ glAccountCode, assetCodes });
    }
    return uses.length > 0 ? { outcome: "accountsInUse", uses } : change(transaction);
  });
}

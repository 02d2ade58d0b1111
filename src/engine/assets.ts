// Rules of assets: making a new version of one, under the ledger's lock.
import { defaultAssetRule, type AssetRule } from "../core/asset.ts";
import { Refusal } from "../core/errors.ts";
import { walletAccounts, type LedgerIdentity } from "../core/ledger.ts";
import { insertMissingAccounts, listAccountStates } from "../store/accounts.ts";
import { insertAssetRules, listAssetRules } from "../store/asset-rules.ts";
import { readClock } from "../store/journal-heads.ts";
import { getLedgerIdentity } from "../store/ledgers.ts";
import { withLedgerStateLocked } from "./ledger-state.ts";
import type { Pool } from "../store/database/pool.ts";

/** What of a rule is to change; what is left out stays as it is. */
export type AssetRuleChange = Partial<
  Pick<AssetRule, "rate" | "exponent" | "walletsAccount" | "clearingAccount" | "overdraftLimit">
>;

export type AssetRuleOutcome =
  | { readonly outcome: "done"; readonly rule: AssetRule }
  | { readonly outcome: "ledgerNotFound" }
  | { readonly outcome: "accountNotFound"; readonly glAccountCode: string };

/**
 * Makes the next version of an asset's rule. Throws a Refusal (validation) when the rule would not hold.
 * Writes accepted before keep the version they were accepted under.
 */
export async function setAssetRule(
  pool: Pool,
  ledgerId: string,
  assetCode: string,
  change: AssetRuleChange,
): Promise<AssetRuleOutcome> {
  return withLedgerStateLocked(pool, ledgerId, async (transaction, status) => {
    if (status === null) return { outcome: "ledgerNotFound" };
    const ledger = await getLedgerIdentity(transaction, ledgerId);
    const [current] = await listAssetRules(transaction, ledgerId, [assetCode]);
    const base = current ?? defaultAssetRule(assetCode, ledger.functionalCurrency);
    const rule = { ...base, ...change, version: current === undefined ? 1 : current.version + 1 };
    refuseRule(rule, base, ledger);
    const codes = [rule.walletsAccount, rule.clearingAccount];
    const pair = Object.values(walletAccounts(assetCode));
    const own = pair.filter(({ glAccountCode }) => codes.includes(glAccountCode));
    const usable = new Set((await listAccountStates(transaction, ledgerId, codes)).keys());
    for (const { glAccountCode } of own) usable.add(glAccountCode);
    const missing = codes.find((code) => !usable.has(code));
    if (missing !== undefined) return { outcome: "accountNotFound", glAccountCode: missing };
    const now = await readClock(transaction);
    await Promise.all([
      insertAssetRules(transaction, ledgerId, [rule], now),
      insertMissingAccounts(transaction, ledgerId, own, now),
    ]);
    return { outcome: "done", rule };
  });
}

function refuseRule(rule: AssetRule, base: AssetRule, ledger: LedgerIdentity): void {
  // Writes accepted without a rate are posted under the first one; there is no second first.
  if (rule.rate === null && base.rate !== null) {
    throw new Refusal("validation", "a rate can be changed, but not taken away");
  }
  if (rule.assetCode === ledger.functionalCurrency && rule.rate !== "1") {
    throw new Refusal(
      "validation",
      "the ledger's own currency counts one to one; it takes no rate",
    );
  }
  if (rule.walletsAccount === rule.clearingAccount) {
    throw new Refusal("validation", "the wallets account and the clearing account must differ");
  }
}

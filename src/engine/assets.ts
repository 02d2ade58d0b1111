// Rules of assets: making a new version of one, under the ledger's lock.
import { defaultAssetRule, type AssetRule } from "../core/asset.ts";
import { Refusal } from "../core/errors.ts";
import { walletAccounts, type LedgerIdentity } from "../core/ledger.ts";
import { nameOperator } from "../store/administration-acts.ts";
import { insertMissingAccounts, listAccountStates } from "../store/accounts.ts";
import { insertAssetRules, listAssetRules } from "../store/asset-rules.ts";
import { readClock } from "../store/journal-heads.ts";
import { getLedgerIdentity } from "../store/ledgers.ts";
import { withLedgerStateLocked } from "./ledger-state.ts";
import type { Pool } from "../store/database/pool.ts";

/** What of a rule is to change; what is left out stays as it is. */
export type AssetRuleChange = Partial<Omit<AssetRule, "assetCode" | "version">>;

export type AssetRuleOutcome =
  | { readonly outcome: "done"; readonly rule: AssetRule }
  | { readonly outcome: "ledgerNotFound" }
  | { readonly outcome: "accountsNotFound"; readonly glAccountCodes: readonly string[] };

/**
 * Makes the next version of an asset's rule, unless nothing of it would change. Throws a Refusal (validation) when the
 * rule would not hold. Writes accepted before keep the version they were accepted under. `operator`: whom the record of
 * administration names; the user of the operating system unless given.
 */
export async function setAssetRule(
  pool: Pool,
  ledgerId: string,
  assetCode: string,
  change: AssetRuleChange,
  operator: string | null = null,
): Promise<AssetRuleOutcome> {
  return withLedgerStateLocked(pool, ledgerId, async (transaction, status) => {
    if (status === null) return { outcome: "ledgerNotFound" };
    const ledger = await getLedgerIdentity(transaction, ledgerId);
    const [current] = await listAssetRules(transaction, ledgerId, [assetCode]);
    const base = current ?? defaultAssetRule(assetCode, ledger.functionalCurrency);
    const rule = { ...base, ...change, version: current === undefined ? 1 : current.version + 1 };
    refuseRule(rule, ledger);
    if (current !== undefined && isSameRule(rule, current)) {
      return { outcome: "done", rule: current };
    }
    const codes = [rule.walletsAccount, rule.clearingAccount];
    const pair = Object.values(walletAccounts(assetCode));
    const own = pair.filter(({ glAccountCode }) => codes.includes(glAccountCode));
    const usable = new Set((await listAccountStates(transaction, ledgerId, codes)).keys());
    for (const { glAccountCode } of own) usable.add(glAccountCode);
    const missing = codes.filter((code) => !usable.has(code));
    if (missing.length > 0) return { outcome: "accountsNotFound", glAccountCodes: missing };
    if (operator !== null) await nameOperator(transaction, operator);
    const now = await readClock(transaction);
    await Promise.all([
      insertAssetRules(transaction, ledgerId, [rule], now),
      insertMissingAccounts(transaction, ledgerId, own, now),
    ]);
    return { outcome: "done", rule };
  });
}

/** A request that is sent again makes no version that nobody asked for. */
function isSameRule({ version: _, ...rule }: AssetRule, current: AssetRule): boolean {
  return Object.entries(rule).every(([name, value]) => current[name as keyof AssetRule] === value);
}

function refuseRule(rule: AssetRule, ledger: LedgerIdentity): void {
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

// Administration through the API: what an API key with the scope `admin` does to a ledger's chart and to its rules of
// assets. Outcomes become refusals here; the record of administration names the key.
import type { AssetRule } from "../core/asset.ts";
import { Refusal, validationRefusal, type Fault } from "../core/errors.ts";
import type { Account } from "../core/ledger.ts";
import { quoted } from "../core/text.ts";
import type { Pool } from "../store/database/pool.ts";
import { importAccounts, type AccountUse, type ChartRow } from "./accounts.ts";
import { setAssetRule, type AssetRuleChange } from "./assets.ts";
import { commitsHalted } from "./group-commit.ts";

/** Who does it to which ledger. */
export interface AdministrativeAct {
  readonly ledgerId: string;
  readonly apiKey: string;
}

export class LedgerAdministration {
  readonly #pool: Pool;
  readonly #areCommitsHalted: () => boolean;

  /** `areCommitsHalted`: whether COMMITs wait for a standby without end, so that none may be added. */
  constructor(pool: Pool, areCommitsHalted: () => boolean = () => false) {
    this.#pool = pool;
    this.#areCommitsHalted = areCommitsHalted;
  }

  /**
   * Makes accounts, and renames those that are there, all of them or none. Resolves with the accounts named, by code.
   * Codes must not repeat. Rejects with `accountInUse` where one is to be deactivated that wallets are posted to.
   */
  async importAccounts(
    { ledgerId, apiKey }: AdministrativeAct,
    chart: readonly ChartRow[],
  ): Promise<readonly Account[]> {
    this.#refuseHalted();
    const imported = await importAccounts(this.#pool, ledgerId, chart, apiKey);
    if (imported.outcome === "done") return imported.accounts;
    const uses = imported.uses.map(describeUse).join("; ");
    throw new Refusal("accountInUse", `${uses}; give them another account first`);
  }

  /** Changes the rule of an asset. Rejects with `validation` where it would not hold, or names accounts that are not there. */
  async setAssetRule(
    { ledgerId, apiKey }: AdministrativeAct,
    assetCode: string,
    change: AssetRuleChange,
  ): Promise<AssetRule> {
    this.#refuseHalted();
    const result = await setAssetRule(this.#pool, ledgerId, assetCode, change, apiKey);
    if (result.outcome === "done") return result.rule;
    if (result.outcome === "ledgerNotFound") {
      throw new Refusal("ledgerNotFound", "there is no such ledger");
    }
    throw validationRefusal(result.glAccountCodes.flatMap((code) => missingFaults(code, change)));
  }

  #refuseHalted(): void {
    if (this.#areCommitsHalted()) throw commitsHalted;
  }
}

function describeUse({ glAccountCode, assetCodes }: AccountUse): string {
  return `wallets of ${assetCodes.join(", ")} are posted to account ${quoted(glAccountCode)}`;
}

/** One at each member that names the account; one that none names comes from the rule as it was. */
function missingFaults(glAccountCode: string, change: AssetRuleChange): Fault[] {
  const detail = `${quoted(glAccountCode)} is not an account of the ledger`;
  const members = (["walletsAccount", "clearingAccount"] as const).filter(
    (member) => change[member] === glAccountCode,
  );
  return members.length === 0
    ? [{ path: [], detail: `the account of the rule ${detail}` }]
    : members.map((member) => ({ path: [member], detail }));
}

// `asset set`: changes what its flags name.
import type { Environment } from "../../../config.ts";
import { parseRate } from "../../../core/asset.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import { setAssetRule, type AssetRuleChange } from "../../../engine/assets.ts";
import { requireCurrency, requireLabel, requireWholeNumber } from "../../input/arguments.ts";
import { notFoundFailure, usageFailure } from "../../failure.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import { document, readPending } from "./asset-document.ts";

export interface SetAssetFlags extends LedgerFlags {
  rate?: string;
  exponent?: string;
  walletsAccount?: string;
  clearingAccount?: string;
  overdraft?: string;
}

/** Of no asset in use more than 18: a wei is 10^-18 of an ether. */
const exponentMax = 18;

export async function setAsset(
  codeText: string,
  flags: SetAssetFlags,
  environment: Environment,
): Promise<void> {
  const code = requireCurrency("CODE", codeText);
  const change = readChange(flags);
  const ownExponent = currencyExponents.get(code);
  if (change.exponent !== undefined && (ownExponent ?? change.exponent) !== change.exponent) {
    throw usageFailure(`--exponent of ${code} is ${ownExponent}, as ISO 4217 has it`);
  }
  await onLedger(flags, environment, async (ledgerId, { output, pool }) => {
    const result = await setAssetRule(pool, ledgerId, code, change);
    if (result.outcome === "ledgerNotFound") {
      throw notFoundFailure(`the database has no ledger ${ledgerId}`);
    }
    if (result.outcome === "accountNotFound") {
      const { glAccountCode } = result;
      throw notFoundFailure(
        `the ledger has no account ${glAccountCode}, which ${flagOf(glAccountCode, flags)} names; ` +
          "add it with `ledgerctl account add` first",
      );
    }
    const pending = await readPending(pool, ledgerId);
    output.created(document(result.rule, pending), ({ assetCode }) => assetCode);
  });
}

function readChange(flags: SetAssetFlags): AssetRuleChange {
  const { rate, exponent, walletsAccount, clearingAccount, overdraft } = flags;
  if (rate !== undefined && parseRate(rate) === null) {
    throw usageFailure(
      "--rate must be an exact decimal above zero, such as 1.0845, of at most 38 digits " +
        "before the point and 38 after it",
    );
  }
  if (walletsAccount !== undefined && walletsAccount === clearingAccount) {
    throw usageFailure("--wallets-account and --clearing-account must be two accounts");
  }
  const change: AssetRuleChange = {
    ...(rate === undefined ? {} : { rate }),
    ...(exponent === undefined
      ? {}
      : { exponent: requireWholeNumber("--exponent", exponent, 0, exponentMax) }),
    ...(walletsAccount === undefined
      ? {}
      : { walletsAccount: requireLabel("--wallets-account", walletsAccount) }),
    ...(clearingAccount === undefined
      ? {}
      : { clearingAccount: requireLabel("--clearing-account", clearingAccount) }),
    ...(overdraft === undefined ? {} : { overdraftLimit: requireLimit(overdraft) }),
  };
  if (Object.keys(change).length === 0) {
    throw usageFailure(
      "nothing to change: give --rate, --exponent, --wallets-account, --clearing-account or --overdraft",
    );
  }
  return change;
}

function requireLimit(text: string): bigint {
  if (/^[0-9]{1,38}$/.test(text)) return BigInt(text);
  throw usageFailure(
    "--overdraft must be a whole number of smallest units, 0 or more, of at most 38 digits",
  );
}

/** Which flag names an account; one that none names comes from the rule as it was. */
function flagOf(glAccountCode: string, flags: SetAssetFlags): string {
  if (flags.walletsAccount === glAccountCode) return "--wallets-account";
  return flags.clearingAccount === glAccountCode ? "--clearing-account" : "the rule";
}

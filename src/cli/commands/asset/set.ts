// `asset set`: changes what its flags name.
import type { Environment } from "../../../config.ts";
import { exponentMax, none } from "../../../contract/administration-body.ts";
import type { AssetRuleInput } from "../../../contract/types.ts";
import { parseRate } from "../../../core/asset.ts";
import { currencyExponents } from "../../../core/currencies.ts";
import {
  setAssetRule,
  type AssetRuleChange,
  type AssetRuleOutcome,
} from "../../../engine/assets.ts";
import { requireCurrency, requireLabel, requireWholeNumber } from "../../input/arguments.ts";
import { refuseUnknownCurrency, type CurrencyFlags } from "../../input/currency-guard.ts";
import { notFoundFailure, usageFailure, type CommandFailure } from "../../failure.ts";
import { administerLedger, type AdministrationFlags } from "../../connection/administration.ts";
import { document, readPending } from "./asset-document.ts";

export interface SetAssetFlags extends AdministrationFlags, CurrencyFlags {
  rate?: string;
  exponent?: string;
  walletsAccount?: string;
  clearingAccount?: string;
  overdraft?: string;
  maxBalance?: string;
  dailyDebitMax?: string;
}

export async function setAsset(
  codeText: string,
  flags: SetAssetFlags,
  environment: Environment,
): Promise<void> {
  const code = requireCurrency("CODE", codeText);
  refuseUnknownCurrency("CODE", code, flags);
  const change = readChange(flags);
  const ownExponent = currencyExponents.get(code);
  if (change.exponent !== undefined && (ownExponent ?? change.exponent) !== change.exponent) {
    throw usageFailure(`--exponent of ${code} is ${ownExponent}, as ISO 4217 has it`);
  }
  await administerLedger(flags, environment, {
    onService: async (ledgerId, { output, client }) => {
      const asset = await client.setAssetRule(ledgerId, code, wireChange(change));
      // The API does not say what waits to be posted.
      output.created({ ...asset, pending: null }, ({ assetCode }) => assetCode);
    },
    onDatabase: async (ledgerId, { output, pool }) => {
      const result = await setAssetRule(pool, ledgerId, code, change);
      if (result.outcome !== "done") throw notDone(result, ledgerId, flags);
      const pending = await readPending(pool, ledgerId);
      output.created(document(result.rule, pending), ({ assetCode }) => assetCode);
    },
  });
}

function notDone(
  result: Exclude<AssetRuleOutcome, { outcome: "done" }>,
  ledgerId: string,
  flags: SetAssetFlags,
): CommandFailure {
  if (result.outcome === "ledgerNotFound") {
    return notFoundFailure(`the database has no ledger ${ledgerId}`);
  }
  const [glAccountCode = ""] = result.glAccountCodes;
  return notFoundFailure(
    `the ledger has no account ${glAccountCode}, which ${flagOf(glAccountCode, flags)} names; ` +
      "add it with `ledgerctl account add` first",
  );
}

/** A change as the API takes it. */
function wireChange(change: AssetRuleChange): AssetRuleInput {
  const { rate, overdraftLimit, maxBalance, dailyDebitMax, ...others } = change;
  return {
    ...others,
    ...(rate === undefined ? {} : { rate: rate ?? none }),
    ...(overdraftLimit === undefined ? {} : { overdraftLimit: overdraftLimit.toString() }),
    ...(maxBalance === undefined ? {} : { maxBalance: maxBalance?.toString() ?? none }),
    ...(dailyDebitMax === undefined ? {} : { dailyDebitMax: dailyDebitMax?.toString() ?? none }),
  };
}

function readChange(flags: SetAssetFlags): AssetRuleChange {
  const { rate, exponent, walletsAccount, clearingAccount, overdraft, ...limits } = flags;
  const { maxBalance, dailyDebitMax } = limits;
  if (rate !== undefined && rate !== none && parseRate(rate) === null) {
    throw usageFailure(
      "--rate must be an exact decimal above zero, such as 1.0845, of at most 38 digits " +
        "before the point and 38 after it, or none",
    );
  }
  if (walletsAccount !== undefined && walletsAccount === clearingAccount) {
    throw usageFailure("--wallets-account and --clearing-account must be two accounts");
  }
  const change: AssetRuleChange = {
    ...(rate === undefined ? {} : { rate: rate === none ? null : rate }),
    ...(exponent === undefined
      ? {}
      : { exponent: requireWholeNumber("--exponent", exponent, 0, exponentMax) }),
    ...(walletsAccount === undefined
      ? {}
      : { walletsAccount: requireLabel("--wallets-account", walletsAccount) }),
    ...(clearingAccount === undefined
      ? {}
      : { clearingAccount: requireLabel("--clearing-account", clearingAccount) }),
    ...(overdraft === undefined
      ? {}
      : { overdraftLimit: requireLimit("--overdraft", overdraft) ?? 0n }),
    ...(maxBalance === undefined ? {} : { maxBalance: requireLimit("--max-balance", maxBalance) }),
    ...(dailyDebitMax === undefined
      ? {}
      : { dailyDebitMax: requireLimit("--daily-debit-max", dailyDebitMax) }),
  };
  if (Object.keys(change).length === 0) {
    throw usageFailure(
      "nothing to change: give --rate, --exponent, --wallets-account, --clearing-account, --overdraft, " +
        "--max-balance or --daily-debit-max",
    );
  }
  return change;
}

/** Null for none. */
function requireLimit(flag: string, text: string): bigint | null {
  if (text === none) return null;
  if (/^[0-9]{1,38}$/.test(text)) return BigInt(text);
  throw usageFailure(
    `${flag} must be a whole number of smallest units, 0 or more, of at most 38 digits, or none`,
  );
}

/** Which flag names an account; one that none names comes from the rule as it was. */
function flagOf(glAccountCode: string, flags: SetAssetFlags): string {
  if (flags.walletsAccount === glAccountCode) return "--wallets-account";
  return flags.clearingAccount === glAccountCode ? "--clearing-account" : "the rule";
}

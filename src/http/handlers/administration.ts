// Administration through the API: the chart of accounts and the rules of assets, for keys with the scope `admin`.
import { parseAccountsBody, parseAssetRuleBody } from "../../contract/administration-body.ts";
import { parseAssetCode } from "../../core/asset.ts";
import { validationRefusal } from "../../core/errors.ts";
import { wireAsset } from "./wire-asset.ts";
import type { RouteHandler } from "./route-handler.ts";

export const importAccounts: RouteHandler<"importAccounts"> = async (
  { administration },
  { ledger, caller, body },
) => {
  const act = { ledgerId: ledger.ledgerId, apiKey: caller.apiKey };
  const accounts = await administration.importAccounts(act, parseAccountsBody(body?.value));
  return { accounts: [...accounts] };
};

export const setAssetRule: RouteHandler<"setAssetRule"> = async (
  { administration },
  { ledger, caller, body, assetCode },
) => {
  const code = parseAssetCode(assetCode);
  if (code === null) {
    const detail = "assetCode must be 1 to 32 letters, digits or _ . : / -";
    throw validationRefusal([{ path: [], detail }]);
  }
  const act = { ledgerId: ledger.ledgerId, apiKey: caller.apiKey };
  const change = parseAssetRuleBody(code, body?.value);
  return wireAsset(await administration.setAssetRule(act, code, change));
};

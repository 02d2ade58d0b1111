// Reading ledgers, charts of accounts, rules of assets, balances and the trial balance of the live books.
import { newestRules } from "../../core/asset.ts";
import type { Ledger } from "../../contract/types.ts";
import { readBalanceAsOf } from "../../engine/registers.ts";
import { readTrialBalance } from "../../engine/trial-balances.ts";
import { findBalance } from "../../store/account-balances.ts";
import { listAccounts as listChart } from "../../store/accounts.ts";
import { listRuleVersions } from "../../store/asset-rules.ts";
import { findLedger, type LedgerRecord, listLedgers as listRecords } from "../../store/ledgers.ts";
import { requireAccount, resolvePeriod } from "./named-records.ts";
import { searchInSnapshot, type RouteHandler } from "./route-handler.ts";
import { wireAsset } from "./wire-asset.ts";
import { wireBalances, wireMovedBalance } from "./wire-balances.ts";

export const listLedgers: RouteHandler<"listLedgers"> = async ({ interactive }, { caller }) => {
  const ledgers = await listRecords(interactive, caller.organizationId);
  return { ledgers: ledgers.map(wireLedger) };
};

export const getLedger: RouteHandler<"getLedger"> = async ({ interactive }, { ledger }) => {
  const record = await findLedger(interactive, ledger.ledgerId);
  if (record === null) throw new Error("a ledger that was found once is there");
  return wireLedger(record);
};

export const listAccounts: RouteHandler<"listAccounts"> = async (
  { interactive },
  { ledger, query },
) => {
  const accounts = await listChart(interactive, ledger.ledgerId, query.activeOnly);
  return { accounts: [...accounts] };
};

export const listAssets: RouteHandler<"listAssets"> = async ({ interactive }, { ledger }) => {
  const rules = newestRules(await listRuleVersions(interactive, ledger.ledgerId));
  return { assets: rules.map(wireAsset) };
};

export const getBalance: RouteHandler<"getBalance"> = async (services, request) => {
  const { ledger, query } = request;
  const { account: glAccountCode, asOf } = query;
  const currency = query.currency ?? ledger.functionalCurrency;
  if (asOf !== null) {
    const subject = { glAccountCode, currency: query.currency };
    return searchInSnapshot(services, request, async (snapshot) => {
      await requireAccount(snapshot, ledger, glAccountCode);
      const sum = await readBalanceAsOf(snapshot, ledger.ledgerId, subject, asOf);
      return { glAccountCode, balance: sum.amount, currency, entryCount: sum.entryCount };
    });
  }
  const { interactive } = services;
  const held = await findBalance(interactive, ledger.ledgerId, glAccountCode, query.currency);
  if (held === null) await requireAccount(interactive, ledger, glAccountCode);
  return {
    glAccountCode,
    balance: held?.balance ?? 0n,
    currency,
    entryCount: held?.entryCount ?? 0,
  };
};

export const getTrialBalance: RouteHandler<"getTrialBalance"> = async (services, request) => {
  const { ledger, query } = request;
  const { asOf, periodId } = query;
  const { ledgerId } = ledger;
  const upToMoment = asOf === null ? null : { startsAt: null, endsAt: asOf, close: null };
  const asked =
    periodId === null ? upToMoment : await resolvePeriod(services.interactive, ledgerId, periodId);
  const { period, rows, lastSequence, moved, unknownCurrencies } = await readTrialBalance(
    services.longReads,
    ledgerId,
    asked,
    request.gone(),
  );
  const chart = await listChart(services.interactive, ledgerId, false);
  return {
    periodId,
    ...wireBalances(ledger, period, rows, chart),
    lastSequence,
    close: asked?.close ?? null,
    moved: moved.map(wireMovedBalance),
    unknownCurrencies,
  };
};

function wireLedger(record: LedgerRecord): Ledger {
  return {
    id: record.ledgerId,
    name: record.name,
    status: record.status,
    createdAt: record.createdAt,
    metadata: record.metadata,
    functionalCurrency: record.functionalCurrency,
  };
}

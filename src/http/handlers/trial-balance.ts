// The trial balance of the live books.
import { readTrialBalance } from "../../engine/trial-balances.ts";
import { listAccounts } from "../../store/accounts.ts";
import { resolvePeriod } from "./named-records.ts";
import type { RouteHandler } from "./route-handler.ts";
import { wireBalances, wireMovedBalance } from "./wire-balances.ts";

export const getTrialBalance: RouteHandler<"getTrialBalance"> = async (services, request) => {
  const { ledger, query } = request;
  const { asOf, periodId } = query;
  const { ledgerId } = ledger;
  const upToMoment = asOf === null ? null : { startsAt: null, endsAt: asOf, close: null };
  const asked =
    periodId === null ? upToMoment : await resolvePeriod(services.interactive, ledgerId, periodId);
  const { period, rows, lastSequence, moved } = await readTrialBalance(
    services.longRunning,
    ledgerId,
    asked,
    request.gone(),
  );
  const chart = await listAccounts(services.interactive, ledgerId, false);
  return {
    periodId,
    ...wireBalances(ledger, period, rows, chart),
    lastSequence,
    close: asked?.close ?? null,
    moved: moved.map(wireMovedBalance),
  };
};

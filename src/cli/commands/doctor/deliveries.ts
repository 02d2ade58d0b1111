// Whether deliveries get through: of the ledger that a key with the scope admin sees, or of all where the database is.
import type { Delivery, LedgerClient } from "../../../client/ledger-client.ts";
import { ServiceProblem } from "../../../client/ledger-client.ts";
import type { Pool } from "../../../store/database/pool.ts";
import { listAllDeliveries } from "../../../store/deliveries.ts";
import { counted } from "../../terminal/counted.ts";
import { failed, noted, passed, type Check } from "./check.ts";

/** A delivery that has failed for less may be well again at the next attempt. */
const failingMsMin = 3_600_000;

/** A delivery as it is told of; lags are in events. */
type Told = Pick<
  Delivery,
  "id" | "status" | "pauseReason" | "failingSince" | "failure" | "lag" | "walletLag"
> & { readonly ledgerId: string };

/** Nothing where the key may not see deliveries: most keys may not. */
export async function checkDeliveries(client: LedgerClient, ledgerId: string): Promise<Check[]> {
  try {
    const deliveries = await client.listDeliveries(ledgerId);
    return [checkOf(deliveries.map((delivery) => ({ ...delivery, ledgerId })))];
  } catch (error) {
    if (error instanceof ServiceProblem) return [];
    throw error;
  }
}

export async function checkAllDeliveries(pool: Pool): Promise<Check> {
  const deliveries = await listAllDeliveries(pool);
  return checkOf(
    deliveries.map(({ deliveryId: id, walletLag, events, ...delivery }) => ({
      ...{ id, ...delivery },
      walletLag: events.includes("wallet") ? walletLag : null,
    })),
  );
}

function checkOf(deliveries: readonly Told[]): Check {
  const troubled = deliveries.filter((delivery) => troubleOf(delivery) !== null);
  if (troubled.length > 0) {
    const detail = troubled
      .map((delivery) => `${delivery.id} of ledger ${delivery.ledgerId} ${troubleOf(delivery)}`)
      .join("; ");
    if (troubled.every(isTriedAgain)) return noted("deliveries", detail);
    return failed(
      "deliveries",
      detail,
      "Mend the receiver, then `ledgerctl delivery resume ID`; behind a restore `delivery replay ID` from what both have first. " +
        "`delivery remove ID` if nobody needs it.",
    );
  }
  if (deliveries.length === 0) return passed("deliveries", "there are none");
  const active = deliveries.filter(({ status }) => status === "active");
  const behind = Math.max(0, ...active.map(lagOf));
  const paused = deliveries.length - active.length;
  const also = paused === 0 ? "" : `, and ${paused} paused`;
  return passed(
    "deliveries",
    `${active.length} active, ${counted(behind, "event")} behind at most${also}`,
  );
}

function lagOf({ lag, walletLag }: Told): number {
  return lag + (walletLag ?? 0);
}

function isTriedAgain({ status, failingSince }: Told): boolean {
  return status === "active" && Date.now() - Date.parse(failingSince ?? "") < failingMsMin;
}

/** What is wrong with a delivery; null for one that gets through, or that somebody paused. */
function troubleOf(delivery: Told): string | null {
  const { pauseReason, failingSince, failure } = delivery;
  const behind = `${counted(lagOf(delivery), "event")} behind`;
  if (pauseReason === "failing") {
    return `was paused, ${behind}: it had failed for a day (${failure ?? "unknown"})`;
  }
  if (pauseReason === "restored") return `is paused, ${behind}: the database was restored`;
  if (pauseReason !== null || failingSince === null) return null;
  return `fails since ${failingSince}, ${behind}: ${failure ?? "unknown"}`;
}

// Deliveries of events: making, listing, pausing and removing them, and the body of what is delivered.
import { formatCursor } from "../../core/delivery.ts";
import { parseDeliveryBody, parseReplayBody } from "../../contract/delivery-body.ts";
import type { Delivery, DeliveryMessage } from "../../contract/types.ts";
import type { DeliveryEvent } from "../../engine/deliveries/delivery-events.ts";
import { listDeliveries as listRecords, type DeliveryRecord } from "../../store/deliveries.ts";
import type { LedgerIdentity } from "../../core/ledger.ts";
import type { Caller } from "../authenticate.ts";
import type { RouteHandler } from "./route-handler.ts";
import { wireEntry } from "./wire-entry.ts";
import { wireLogEntry } from "./wire-wallet-log.ts";

export const createDelivery: RouteHandler<"createDelivery"> = async ({ deliveries }, request) => {
  const { start, ...wanted } = parseDeliveryBody(request.body?.value);
  const { delivery, secret } = await deliveries.createDelivery(actOf(request), wanted, start);
  return wireDelivery(delivery, secret);
};

export const listDeliveries: RouteHandler<"listDeliveries"> = async (
  { interactive },
  { ledger },
) => {
  const records = await listRecords(interactive, ledger.ledgerId);
  return { deliveries: records.map((record) => wireDelivery(record)) };
};

export const pauseDelivery: RouteHandler<"pauseDelivery"> = async ({ deliveries }, request) =>
  wireDelivery(await deliveries.pauseDelivery(actOf(request), request.deliveryId));

export const resumeDelivery: RouteHandler<"resumeDelivery"> = async ({ deliveries }, request) =>
  wireDelivery(await deliveries.resumeDelivery(actOf(request), request.deliveryId));

export const replayDelivery: RouteHandler<"replayDelivery"> = async ({ deliveries }, request) => {
  const start = parseReplayBody(request.body?.value);
  return wireDelivery(await deliveries.replayDelivery(actOf(request), request.deliveryId, start));
};

export const deleteDelivery: RouteHandler<"deleteDelivery"> = async ({ deliveries }, request) =>
  wireDelivery(await deliveries.deleteDelivery(actOf(request), request.deliveryId));

function actOf({ ledger, caller }: { ledger: LedgerIdentity; caller: Caller }) {
  return { ledgerId: ledger.ledgerId, apiKey: caller.apiKey };
}

function wireDelivery(record: DeliveryRecord, secret: string | null = null): Delivery {
  const { deliveryId, url, events, status, pauseReason, lag, failingSince, failure } = record;
  return {
    id: deliveryId,
    ...{ url, events, status, pauseReason },
    cursor: formatCursor(record),
    lag,
    ...(events.includes("wallet")
      ? { walletCursor: String(record.walletNumber), walletLag: record.walletLag }
      : { walletCursor: null, walletLag: null }),
    ...{ failingSince, failure },
    createdAt: record.createdAt,
    secret,
  };
}

/** The body of a request to a receiver. */
export function deliveryMessage(
  { ledgerId, deliveryId }: { readonly ledgerId: string; readonly deliveryId: string },
  events: readonly DeliveryEvent[],
): string {
  const message: DeliveryMessage = {
    deliveryId,
    ledgerId,
    events: events.map(wireEvent),
  };
  return JSON.stringify(message);
}

function wireEvent(event: DeliveryEvent): DeliveryMessage["events"][number] {
  if (event.type === "wallet") {
    const { number, callerKey, assetCode } = event.write;
    const data = { callerKey, assetCode, ...wireLogEntry(event.write) };
    return { cursor: String(number), type: event.type, data };
  }
  const cursor = formatCursor(event.place);
  return event.type === "close"
    ? { cursor, type: event.type, data: event.close }
    : { cursor, type: event.type, data: wireEntry(event.entry) };
}

// What a receiver of deliveries does with a request: check that it came from the service, and read it.
import { signatureTime } from "../core/delivery.ts";
import type { DeliveryMessage } from "../contract/types.ts";

/** A request was not signed with the delivery's secret, or not lately. */
export class DeliverySignatureError extends Error {
  override readonly name = "DeliverySignatureError";
}

/** A request as it came. */
export interface ReceivedDelivery {
  /** The delivery's, `ds_…`. */
  readonly secret: string;
  /** The header `Ledgerctl-Signature`. */
  readonly signature: string | null | undefined;
  /** The body as it came, before anything has read it as JSON. */
  readonly body: string | Uint8Array;
  /** How old a request may be, or how far ahead its clock; 300 s unless given. */
  readonly toleranceSeconds?: number;
}

/**
 * Checks the signature of a delivered request and reads its body. Throws DeliverySignatureError: answer 400 then, and do
 * nothing with it. Events may come again; go by their cursor, or by the ids that they have.
 */
export function readDelivery(received: ReceivedDelivery): DeliveryMessage {
  const { secret, signature, body, toleranceSeconds = 300 } = received;
  const time = signatureTime(secret, signature ?? "", body);
  if (time === null) throw new DeliverySignatureError("the request is not signed by the delivery");
  if (Math.abs(Date.now() / 1000 - time) > toleranceSeconds) {
    throw new DeliverySignatureError(`the request was signed more than ${toleranceSeconds} s ago`);
  }
  return JSON.parse(Buffer.from(body).toString("utf8")) as DeliveryMessage;
}

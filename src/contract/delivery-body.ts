// Bodies of deliveries: what is to be made, and where a replay begins.
import * as z from "zod";
import { deliveryEventKinds, parseCursor, type DeliveryPlace } from "../core/delivery.ts";
import { fault, oneOf, optional, wrongType } from "./field-schemas.ts";
import { parseBy } from "./schema-faults.ts";

const notObject = { error: "must be a JSON object" };
const cursorText = "a cursor such as 1017.3: a sequence and the number of a close";

const cursor = z
  .string(wrongType(`a string: ${cursorText}`))
  .check(fault((value) => (parseCursor(value) === null ? `must be ${cursorText}` : null)));

export const deliveryBody = z.strictObject(
  {
    url: z.string(wrongType("an https:// URL")),
    events: z
      .array(oneOf(deliveryEventKinds), {
        error: `must be an array of ${deliveryEventKinds.join(", ")}`,
      })
      .min(1, { error: "must name at least one kind of event" })
      .max(deliveryEventKinds.length, { error: "must name each kind of event once" })
      .refine((kinds) => new Set(kinds).size === kinds.length, {
        error: "must name each kind of event once",
      }),
    since: optional(cursor),
  },
  notObject,
);

export const replayBody = z.strictObject({ since: cursor }, notObject);

/** Reads a delivery that is to be made. Throws `validation` with every fault. */
export function parseDeliveryBody(body: unknown) {
  const { url, events, since } = parseBy(deliveryBody, body);
  return { url, events, since: since === null ? null : parseCursor(since) };
}

/** Reads where a replay begins. Throws `validation` with every fault. */
export function parseReplayBody(body: unknown): DeliveryPlace {
  const { since } = parseBy(replayBody, body);
  const place = parseCursor(since);
  if (place === null) throw new Error("a cursor that passed can be read");
  return place;
}

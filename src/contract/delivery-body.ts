// Bodies of deliveries: what is to be made, and where a replay begins.
import * as z from "zod";
import {
  deliveryEventKinds,
  parseCursor,
  parseWalletCursor,
  type DeliveryStart,
} from "../core/delivery.ts";
import { validationRefusal } from "../core/errors.ts";
import { fault, oneOf, optional, wrongType } from "./field-schemas.ts";
import { parseBy } from "./schema-faults.ts";

const notObject = { error: "must be a JSON object" };
const cursorText = "a cursor such as 1017.3: a sequence and the number of a close";

const cursor = z
  .string(wrongType(`a string: ${cursorText}`))
  .check(fault((value) => (parseCursor(value) === null ? `must be ${cursorText}` : null)));

const walletCursorText = "a cursor of wallet writes such as 20461, in digits";

const walletCursor = z
  .string(wrongType(`a string: ${walletCursorText}`))
  .check(
    fault((value) => (parseWalletCursor(value) === null ? `must be ${walletCursorText}` : null)),
  );

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
    walletSince: optional(walletCursor),
  },
  notObject,
);

export const replayBody = z.strictObject(
  { since: optional(cursor), walletSince: optional(walletCursor) },
  notObject,
);

/** Reads a delivery that is to be made. Throws `validation` with every fault. */
export function parseDeliveryBody(body: unknown) {
  const { url, events, ...since } = parseBy(deliveryBody, body);
  return { url, events, start: startOf(since) };
}

/** Reads where a replay begins. Throws `validation` with every fault. */
export function parseReplayBody(body: unknown): DeliveryStart {
  const start = startOf(parseBy(replayBody, body));
  if (start.journal === null && start.walletNumber === null) {
    throw validationRefusal([{ path: [], detail: "must have since, walletSince or both" }]);
  }
  return start;
}

function startOf({
  since,
  walletSince,
}: {
  readonly since: string | null;
  readonly walletSince: string | null;
}): DeliveryStart {
  return {
    journal: since === null ? null : parseCursor(since),
    walletNumber: walletSince === null ? null : parseWalletCursor(walletSince),
  };
}

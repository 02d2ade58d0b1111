// The body of transfers between wallets: read as a whole first, then transfer by transfer.
import * as z from "zod";
import { Refusal, refusalBelow, validationRefusal } from "../core/errors.ts";
import { parseUuid } from "../core/text.ts";
import type { WalletTransfer } from "../core/wallet-transfer.ts";
import type { ExactJson } from "./exact-json.ts";
import { bulkItemsMax, label, optional } from "./field-schemas.ts";
import { parseBy } from "./schema-faults.ts";
import { callerKey, movementMembers, notObject } from "./wallet-body.ts";

export const transferBody = z
  .strictObject(
    { from: callerKey, to: callerKey, ...movementMembers, fromHold: optional(label) },
    notObject,
  )
  .refine(({ from, to }) => from !== to, {
    path: ["to"],
    error: "must be another wallet than from",
  });

function bodyOf(transfer: z.ZodType) {
  return z.strictObject(
    {
      transfers: z
        .array(transfer, {
          error: ({ input }) =>
            input === undefined || input === null ? "is required" : "must be an array of transfers",
        })
        .min(1, { error: "must have at least one transfer" })
        .max(bulkItemsMax, { error: `must have at most ${bulkItemsMax} transfers` }),
      atomic: optional(z.boolean({ error: "must be true or false" })),
    },
    notObject,
  );
}

/** What the body has to be, transfers included. */
export const transfersBody = bodyOf(transferBody);

/** What it has to be as a whole: its transfers are judged one by one. */
const looseBody = bodyOf(z.unknown());

/** The transfers of a body, to be read one by one. Throws `validation` for the body as a whole. */
export function parseTransfersBody(body: ExactJson | null): {
  /** Whether all of them are made or none. */
  readonly isAtomic: boolean;
  readonly transfers: readonly unknown[];
} {
  const { transfers, atomic } = parseBy(looseBody, body?.value);
  return { isAtomic: atomic === true, transfers };
}

/** Reads one transfer; a `fromHold` that is no UUID names no hold. Throws `validation`, whose paths begin at the transfer. */
export function parseTransfer(transfer: unknown): WalletTransfer {
  const { fromHold, ...members } = parseBy(transferBody, transfer);
  const hold = fromHold === null ? null : { holdId: parseUuid(fromHold) };
  return { type: "transfer", ...members, fromHold: hold };
}

/**
 * Reads the transfers of an atomic bulk. Throws the faults of the first that has any, placed in the whole body. An
 * externalId that two from one wallet have is a fault of the second: nothing has used it yet.
 */
export function parseAtomicTransfers(values: readonly unknown[]): readonly WalletTransfer[] {
  const places = new Map<string, number>();
  return values.map((value, index) => {
    const transfer = within(index, () => parseTransfer(value));
    const { from, externalId } = transfer;
    if (externalId === null) return transfer;
    const key = JSON.stringify([from, externalId]);
    const place = places.get(key);
    if (place !== undefined) {
      const detail = `is the externalId of transfers/${place}, too`;
      throw faultyTransfer(index, validationRefusal([{ path: ["externalId"], detail }]));
    }
    places.set(key, index);
    return transfer;
  });
}

function within<Result>(index: number, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof Refusal ? faultyTransfer(index, error) : error;
  }
}

function faultyTransfer(index: number, refusal: Refusal): Refusal {
  return refusalBelow(["transfers", index], refusal);
}

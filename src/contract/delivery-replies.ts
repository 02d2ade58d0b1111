// Schemas of what is answered about deliveries, and of what is delivered.
import * as z from "zod";
import { deliveryEventKinds } from "../core/delivery.ts";
import { closeReply, entryReply } from "./replies.ts";
import { id, timestamp } from "./reply-fields.ts";
import { walletLogEntryReply } from "./wallet-replies.ts";

/** Where events are delivered to, and how far that has come. */
export const deliveryReply = z.strictObject({
  id,
  url: z.string(),
  events: z.array(z.enum(deliveryEventKinds)),
  status: z.enum(["active", "paused"]),
  pauseReason: z
    .enum(["asked", "failing", "restored"])
    .nullable()
    .describe("failing: for a day; restored: the database was, from a backup"),
  cursor: z.string().describe("what was accepted last: a sequence and the number of a close"),
  lag: z.int().describe("entries that it is behind the journal"),
  walletCursor: z
    .string()
    .nullable()
    .describe("of the wallet write that was accepted last; null where none are delivered"),
  walletLag: z
    .int()
    .nullable()
    .describe("wallet writes that it is behind; null where none are delivered"),
  failingSince: timestamp.nullable(),
  failure: z.string().nullable().describe("why the last attempt failed"),
  createdAt: timestamp,
  secret: z.string().nullable().describe("of a delivery that was just made, this once"),
});

export const deliveryListReply = z.strictObject({ deliveries: z.array(deliveryReply) });

/** A row of a wallet's log among those of others. */
export const deliveredWalletWrite = walletLogEntryReply.extend({
  callerKey: z.string(),
  assetCode: z.string(),
});

const eventCursor = z.string().describe("of a receiver that has the event");

/** The body of a request to a receiver. */
export const deliveryMessage = z.strictObject({
  deliveryId: id,
  ledgerId: id,
  events: z.array(
    z.union([
      z.strictObject({ cursor: eventCursor, type: z.enum(["entry", "posting"]), data: entryReply }),
      z.strictObject({ cursor: eventCursor, type: z.literal("close"), data: closeReply }),
      z.strictObject({
        cursor: z.string().describe("of wallet writes, which have one of their own"),
        type: z.literal("wallet"),
        data: deliveredWalletWrite,
      }),
    ]),
  ),
});

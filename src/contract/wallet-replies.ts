// Schemas of what is answered about wallets.
import * as z from "zod";
import { walletWriteTypes } from "../core/wallet.ts";
import { amount, id, timestamp } from "./reply-fields.ts";

/** What is answered instead of a reply on the paths of wallets. */
export const walletErrorReply = z.strictObject({ error: z.string() });

export const walletBalanceReply = z.strictObject({
  balance: amount,
  available: amount.describe("balance less active holds, integer, smallest unit"),
});

export const walletReply = z.strictObject({
  status: z.enum(["accepted", "duplicate"]),
  ...walletBalanceReply.shape,
});

export const reserveReply = walletReply.extend({
  holdId: id.nullable().describe("null only for a duplicate of a credit or a debit"),
});

export const freezeReply = walletReply.extend({
  frozen: z.boolean().describe("whether nothing can be taken out of the wallet"),
});

/** An item of a bulk that was refused. */
const refusedItemReply = z.strictObject({ status: z.int(), error: z.string() });

export const bulkReply = z.strictObject({
  results: z.array(z.union([walletReply, refusedItemReply])),
});

export const transferReply = z.strictObject({
  status: z.enum(["accepted", "duplicate"]),
  transferId: id.nullable().describe("null only for a duplicate of what was no transfer"),
  from: walletBalanceReply,
  to: walletBalanceReply,
});

export const transfersReply = z.strictObject({
  results: z
    .array(z.union([transferReply, refusedItemReply]))
    .describe("in the order of the transfers; of an atomic bulk, none that was refused"),
});

export const walletRowReply = z.strictObject({
  callerKey: z.string(),
  assetCode: z.string(),
  ...walletBalanceReply.shape,
  held: amount.describe("what active holds reserve, integer, smallest unit"),
  seq: z.int().positive().describe("of the last row of its log"),
  createdAt: timestamp,
  updatedAt: timestamp,
  frozenAt: timestamp
    .exactOptional()
    .describe("since when nothing may be taken out of it; absent where it is not frozen"),
});

export const walletPageReply = z.strictObject({
  wallets: z.array(walletRowReply).describe("by the UTF-8 bytes of their callerKeys"),
  nextCursor: z.string().nullable().describe("for the page after this one; null on the last"),
});

export const walletLogEntryReply = z.strictObject({
  seq: z.int().positive().describe("1, 2, 3 … in its wallet, without gaps"),
  type: z.enum(walletWriteTypes),
  amount,
  balance: amount.describe("after the write, integer, smallest unit"),
  held: amount.describe(
    "what holds reserve after the write, until their release, commit or expiry is logged",
  ),
  externalId: z.string().nullable(),
  holdId: id.nullable(),
  metadata: z.string().nullable(),
  at: timestamp,
  transferId: id.exactOptional().describe("of a transfer: in the logs of both wallets"),
  counterparty: z.string().exactOptional().describe("of a transfer: the other wallet's callerKey"),
  journalId: id
    .nullable()
    .describe("the entry that posts it; null until then, and for what moves no balance"),
});

export const walletHistoryReply = z.strictObject({
  writes: z.array(walletLogEntryReply),
  hasMore: z.boolean(),
});

export const postedWritesReply = z.strictObject({
  writes: z.array(walletLogEntryReply.extend({ callerKey: z.string() })),
  total: z.int(),
  hasMore: z.boolean(),
});

/** What a wallet's stream sends. */
export const balanceMessage = z.object({
  type: z.literal("balance"),
  ...walletBalanceReply.shape,
  seq: z.int().positive().exactOptional().describe("only on a stream opened with since"),
});

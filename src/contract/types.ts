// The objects that travel, as types: inferred from the schemas. Users of the package get them written out, without
// the schemas; so each is one line of the same form (scripts/published-types.js).
import type { z } from "zod";
import type { accountBody, assetRuleBody } from "./administration-body.ts";
import type { registerLineReply, registerReply, statementReply } from "./book-replies.ts";
import type { deliveryBody } from "./delivery-body.ts";
import type * as deliveryReplies from "./delivery-replies.ts";
import type { closeBody } from "./close-body.ts";
import type { entryBody, lineBody, reversalBody } from "./entry-body.ts";
import type * as logReplies from "./log-replies.ts";
import type * as replies from "./replies.ts";
import type { bulkMovement, movementBody, reserveBody } from "./wallet-body.ts";
import type * as walletReplies from "./wallet-replies.ts";
import type { transferBody } from "./wallet-transfers-body.ts";

export type { JsonObject, JsonValue } from "../core/journal.ts";

/** Read-only all the way down; what has any member at all, such as metadata, is so already. */
export type Immutable<Value> = Value extends unknown
  ? string extends keyof Value
    ? Value
    : { readonly [Name in keyof Value]: Immutable<Value[Name]> }
  : never;

type Reply<Schema extends z.ZodType> = Immutable<z.output<Schema>>;
type Body<Schema extends z.ZodType> = Immutable<z.input<Schema>>;

export type Ledger = Reply<typeof replies.ledgerReply>;
export type Account = Reply<typeof replies.accountReply>;
export type Asset = Reply<typeof replies.assetReply>;
export type AccountBalance = Reply<typeof replies.balanceReply>;
export type EntryLine = Reply<typeof replies.entryLineReply>;
export type Entry = Reply<typeof replies.entryReply>;
export type EntryPage = Reply<typeof replies.entryPageReply>;
export type EntryReceipt = Reply<typeof replies.receiptReply>;
export type EntryOutcome = Reply<typeof replies.entryOutcomeReply>;
export type TrialBalance = Reply<typeof replies.trialBalanceReply>;
export type TrialBalanceRow = Reply<typeof replies.trialBalanceRowReply>;
export type TrialBalanceTotals = Reply<typeof replies.balanceTotalsReply>;
export type MovedAccount = Reply<typeof replies.movedAccountReply>;
export type Register = Reply<typeof registerReply>;
export type RegisterLine = Reply<typeof registerLineReply>;
export type Statement = Reply<typeof statementReply>;
export type Close = Reply<typeof replies.closeReply>;
export type ClosePage = Reply<typeof replies.closePageReply>;
export type CloseBalance = Reply<typeof replies.balanceRowReply>;
export type CloseWithBalances = Reply<typeof replies.closeWithBalancesReply>;
export type ClosePreview = Reply<typeof replies.closePreviewReply>;
export type EntryDocument = Reply<typeof replies.entryDocumentReply>;
export type Proof = Reply<typeof replies.proofReply>;
export type LogKind = Reply<typeof logReplies.logKind>;
export type Log = Reply<typeof logReplies.logReply>;
export type CheckpointPage = Reply<typeof logReplies.checkpointPageReply>;
export type Consistency = Reply<typeof logReplies.consistencyReply>;
export type WalletBalance = Reply<typeof walletReplies.walletBalanceReply>;
export type WalletResult = Reply<typeof walletReplies.walletReply>;
export type ReserveResult = Reply<typeof walletReplies.reserveReply>;
export type WalletLogEntry = Reply<typeof walletReplies.walletLogEntryReply>;
export type WalletLogPage = Reply<typeof walletReplies.walletHistoryReply>;
export type PostedWritePage = Reply<typeof walletReplies.postedWritesReply>;
export type FreezeResult = Reply<typeof walletReplies.freezeReply>;
export type TransferResult = Reply<typeof walletReplies.transferReply>;
export type TransfersResult = Reply<typeof walletReplies.transfersReply>;
export type Wallet = Reply<typeof walletReplies.walletRowReply>;
export type WalletPage = Reply<typeof walletReplies.walletPageReply>;
export type BulkResult = Reply<typeof walletReplies.bulkReply>;
export type BalanceMessage = Reply<typeof walletReplies.balanceMessage>;
export type Delivery = Reply<typeof deliveryReplies.deliveryReply>;
export type DeliveryMessage = Reply<typeof deliveryReplies.deliveryMessage>;
export type Problem = Reply<typeof replies.problemReply>;

export type AccountInput = Body<typeof accountBody>;
export type AssetRuleInput = Body<typeof assetRuleBody>;
export type DeliveryInput = Body<typeof deliveryBody>;
export type EntryLineInput = Body<typeof lineBody>;
export type EntryInput = Body<typeof entryBody>;
export type ReversalInput = Body<typeof reversalBody>;
export type CloseInput = Body<typeof closeBody>;
export type MovementInput = Body<typeof movementBody>;
export type ReserveInput = Body<typeof reserveBody>;
export type BulkMovementInput = Body<typeof bulkMovement>;
export type TransferInput = Body<typeof transferBody>;

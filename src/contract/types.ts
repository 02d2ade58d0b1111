// The objects that travel, as types: inferred from the schemas. Users of the package get them written out, without
// the schemas; so each is one line of the same form (scripts/published-types.js).
import type { z } from "zod";
import type { accountBody, assetRuleBody } from "./administration-body.ts";
import type { registerLineReply, registerReply, statementReply } from "./book-replies.ts";
import type { deliveryBody } from "./delivery-body.ts";
import type { closeBody } from "./close-body.ts";
import type { entryBody, lineBody, reversalBody } from "./entry-body.ts";
import type * as replies from "./replies.ts";
import type { bulkMovement, movementBody, reserveBody } from "./wallet-body.ts";
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
export type LogKind = Reply<typeof replies.logKind>;
export type Log = Reply<typeof replies.logReply>;
export type CheckpointPage = Reply<typeof replies.checkpointPageReply>;
export type Consistency = Reply<typeof replies.consistencyReply>;
export type WalletBalance = Reply<typeof replies.walletBalanceReply>;
export type WalletResult = Reply<typeof replies.walletReply>;
export type ReserveResult = Reply<typeof replies.reserveReply>;
export type WalletLogEntry = Reply<typeof replies.walletLogEntryReply>;
export type WalletLogPage = Reply<typeof replies.walletHistoryReply>;
export type PostedWritePage = Reply<typeof replies.postedWritesReply>;
export type FreezeResult = Reply<typeof replies.freezeReply>;
export type TransferResult = Reply<typeof replies.transferReply>;
export type TransfersResult = Reply<typeof replies.transfersReply>;
export type Wallet = Reply<typeof replies.walletRowReply>;
export type WalletPage = Reply<typeof replies.walletPageReply>;
export type BulkResult = Reply<typeof replies.bulkReply>;
export type BalanceMessage = Reply<typeof replies.balanceMessage>;
export type Delivery = Reply<typeof replies.deliveryReply>;
export type DeliveryMessage = Reply<typeof replies.deliveryMessage>;
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

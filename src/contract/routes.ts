// The whole API as one table of data, whose paths are in paths.ts: server, client and the OpenAPI page read it.
import type { z } from "zod";
import type { Scope } from "../core/ledger.ts";
import { accountsBody, assetRuleBody } from "./administration-body.ts";
import { pathTemplates } from "./paths.ts";
import * as bookQueries from "./book-queries.ts";
import * as bookReplies from "./book-replies.ts";
import { deliveryBody, replayBody } from "./delivery-body.ts";
import { closeBody } from "./close-body.ts";
import { entriesBody } from "./bulk-entries-body.ts";
import { entryBody, reversalBody } from "./entry-body.ts";
import * as queries from "./query-schemas.ts";
import * as deliveryReplies from "./delivery-replies.ts";
import * as logReplies from "./log-replies.ts";
import * as replies from "./replies.ts";
import * as walletReplies from "./wallet-replies.ts";
import {
  bulkMovementsBody,
  commitBody,
  movementBody,
  noMembersBody,
  reserveBody,
} from "./wallet-body.ts";
import { transfersBody } from "./wallet-transfers-body.ts";
import type { Immutable } from "./types.ts";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly scope: Scope;
  /** What its writes wait in, one lane a ledger; none where it writes nothing that waits. */
  readonly lane?: "journal" | "wallets";
  readonly summary: string;
  readonly query: z.ZodObject;
  /** The body's schema; null for none. Whether it may be left out. */
  readonly body: { readonly schema: z.ZodType; readonly optional: boolean } | null;
  /** Of a bulk: the member of its body that has the items. Each counts towards a rate limit as a request does. */
  readonly items?: "entries" | "writes" | "accounts" | "transfers";
  /** 101: an upgrade to a WebSocket, whose messages are the reply. */
  readonly status: 101 | 200 | 201;
  readonly reply: z.ZodType;
  /** What it answers instead where the body says `atomic: true`. */
  readonly atomic?: { readonly status: 201; readonly reply: z.ZodType };
  /** The reply is NDJSON, sent as it is made. */
  readonly isNdjson?: true;
  /** The reply is plain text. */
  readonly isText?: true;
  /** Whether the reply has numbers that a double may not hold. */
  readonly hasExactNumbers?: true;
}

/** What a read has unless its row says otherwise. */
const read = {
  method: "GET",
  scope: "read",
  query: queries.noQuery,
  body: null,
  status: 200,
} as const;

const entryWrite = {
  method: "POST",
  scope: "entries:write",
  lane: "journal",
  query: queries.noQuery,
  status: 201,
} as const;

const walletWrite = {
  method: "POST",
  scope: "wallets:write",
  lane: "wallets",
  query: queries.noQuery,
  status: 200,
} as const;

const administration = {
  scope: "admin",
  query: queries.noQuery,
  status: 200,
} as const;

export const routes = {
  listLedgers: {
    ...read,
    summary: "The ledgers of the key's organization",
    reply: replies.ledgerListReply,
  },
  getLedger: {
    ...read,
    summary: "One ledger",
    reply: replies.ledgerReply,
  },
  listAccounts: {
    ...read,
    summary: "The chart of accounts",
    query: queries.accountsQuery,
    reply: replies.accountListReply,
  },
  importAccounts: {
    ...administration,
    method: "POST",
    summary: "Make accounts, and rename those that are there",
    body: { schema: accountsBody, optional: false },
    items: "accounts",
    reply: replies.accountListReply,
  },
  getRegister: {
    ...read,
    summary: "The lines of an account with its running balance",
    query: bookQueries.registerQuery,
    reply: bookReplies.registerReply,
  },
  listAssets: {
    ...read,
    summary: "The rules of assets",
    reply: replies.assetListReply,
  },
  setAssetRule: {
    ...administration,
    method: "PUT",
    summary: "Change the rule of an asset",
    body: { schema: assetRuleBody, optional: false },
    reply: replies.assetReply,
  },
  getBalance: {
    ...read,
    summary: "The balance of an account",
    query: queries.balanceQuery,
    reply: replies.balanceReply,
    hasExactNumbers: true,
  },
  getTrialBalance: {
    ...read,
    summary: "The trial balance of the live books",
    query: queries.trialBalanceQuery,
    reply: replies.trialBalanceReply,
  },
  getBalanceSheet: {
    ...read,
    summary: "A balance sheet",
    query: bookQueries.statementQuery,
    reply: bookReplies.statementReply,
  },
  getIncomeStatement: {
    ...read,
    summary: "An income statement",
    query: bookQueries.statementQuery,
    reply: bookReplies.statementReply,
  },
  postEntry: {
    ...entryWrite,
    summary: "Post a journal entry",
    body: { schema: entryBody, optional: false },
    reply: replies.receiptReply,
  },
  postEntries: {
    ...entryWrite,
    summary: "Post many entries, each by itself or atomically",
    body: { schema: entriesBody, optional: false },
    items: "entries",
    status: 200,
    reply: replies.entriesReply,
    atomic: { status: 201, reply: replies.atomicEntriesReply },
  },
  listEntries: {
    ...read,
    summary: "Journal entries, page by page",
    query: queries.entriesQuery,
    reply: replies.entryPageReply,
  },
  followEntries: {
    ...read,
    summary: "Journal entries by sequence, live (a WebSocket)",
    query: queries.streamQuery,
    status: 101,
    reply: replies.entryMessage,
  },
  getEntry: {
    ...read,
    summary: "One journal entry with its lines",
    reply: replies.entryReply,
  },
  reverseEntry: {
    ...entryWrite,
    summary: "Reverse a journal entry",
    body: { schema: reversalBody, optional: true },
    reply: replies.receiptReply,
  },
  listPostedWrites: {
    ...read,
    summary: "The wallet writes that an entry posts",
    query: queries.pageQuery,
    reply: walletReplies.postedWritesReply,
  },
  closePeriod: {
    method: "POST",
    scope: "periods:close",
    summary: "Close a period",
    query: queries.noQuery,
    body: { schema: closeBody, optional: false },
    status: 201,
    reply: replies.closeReply,
  },
  listCloses: {
    ...read,
    summary: "Closes by number",
    query: queries.pageQuery,
    reply: replies.closePageReply,
  },
  previewClose: {
    ...read,
    summary: "What a close would do",
    query: queries.previewQuery,
    reply: replies.closePreviewReply,
  },
  getClose: {
    ...read,
    summary: "One close with its trial balance",
    reply: replies.closeWithBalancesReply,
  },
  getProof: {
    ...read,
    summary: "The proof that an entry is in a close",
    query: queries.proofQuery,
    reply: replies.proofReply,
  },
  getBundle: {
    ...read,
    summary: "A close with all its entries, as NDJSON",
    reply: replies.bundleReply,
    isNdjson: true,
  },
  getLog: {
    ...read,
    summary: "A log of the ledger: its newest checkpoint, its keys",
    reply: logReplies.logReply,
  },
  getCheckpoint: {
    ...read,
    summary: "A checkpoint of a log",
    query: queries.checkpointQuery,
    reply: logReplies.noteReply,
    isText: true,
  },
  listCheckpoints: {
    ...read,
    summary: "Checkpoints of a log, oldest first",
    query: queries.checkpointsQuery,
    reply: logReplies.checkpointPageReply,
  },
  getConsistency: {
    ...read,
    summary: "The proof that a log begins with an earlier state of it",
    query: queries.consistencyQuery,
    reply: logReplies.consistencyReply,
  },
  getLogProof: {
    ...read,
    summary: "The proof that an entry or a close is in a log",
    query: queries.logProofQuery,
    reply: logReplies.logProofReply,
    isText: true,
  },
  createDelivery: {
    ...administration,
    method: "POST",
    summary: "Deliver events to a URL",
    body: { schema: deliveryBody, optional: false },
    status: 201,
    reply: deliveryReplies.deliveryReply,
  },
  listDeliveries: {
    ...administration,
    method: "GET",
    summary: "The deliveries of a ledger",
    body: null,
    reply: deliveryReplies.deliveryListReply,
  },
  deleteDelivery: {
    ...administration,
    method: "DELETE",
    summary: "Remove a delivery",
    body: null,
    reply: deliveryReplies.deliveryReply,
  },
  pauseDelivery: {
    ...administration,
    method: "POST",
    summary: "Pause a delivery",
    body: null,
    reply: deliveryReplies.deliveryReply,
  },
  resumeDelivery: {
    ...administration,
    method: "POST",
    summary: "Let a paused delivery go on",
    body: null,
    reply: deliveryReplies.deliveryReply,
  },
  replayDelivery: {
    ...administration,
    method: "POST",
    summary: "Deliver again from a cursor on",
    body: { schema: replayBody, optional: false },
    reply: deliveryReplies.deliveryReply,
  },
  creditWallet: {
    ...walletWrite,
    summary: "Add to a wallet",
    body: { schema: movementBody, optional: false },
    reply: walletReplies.walletReply,
  },
  debitWallet: {
    ...walletWrite,
    summary: "Take from a wallet",
    body: { schema: movementBody, optional: false },
    reply: walletReplies.walletReply,
  },
  getWalletBalance: {
    ...read,
    summary: "A wallet's balance",
    reply: walletReplies.walletBalanceReply,
  },
  listWalletWrites: {
    ...read,
    summary: "A wallet's log",
    query: queries.historyQuery,
    reply: walletReplies.walletHistoryReply,
  },
  streamWallet: {
    ...read,
    summary: "A wallet's changes, live (a WebSocket)",
    query: queries.streamQuery,
    status: 101,
    reply: walletReplies.balanceMessage,
  },
  reserveFunds: {
    ...walletWrite,
    summary: "Hold a part of a wallet",
    body: { schema: reserveBody, optional: false },
    reply: walletReplies.reserveReply,
  },
  commitHold: {
    ...walletWrite,
    summary: "Take what was held, or a part of it",
    body: { schema: commitBody, optional: true },
    reply: walletReplies.walletReply,
  },
  releaseHold: {
    ...walletWrite,
    summary: "Let go of what was held",
    body: { schema: noMembersBody, optional: true },
    reply: walletReplies.walletReply,
  },
  writeWallets: {
    ...walletWrite,
    summary: "Many credits and debits, each by itself",
    body: { schema: bulkMovementsBody, optional: false },
    items: "writes",
    reply: walletReplies.bulkReply,
  },
  transferFunds: {
    ...walletWrite,
    summary: "Move amounts between wallets, each by itself or atomically",
    body: { schema: transfersBody, optional: false },
    items: "transfers",
    reply: walletReplies.transfersReply,
  },
  listWallets: {
    ...read,
    summary: "Wallets by callerKey",
    query: queries.walletsQuery,
    reply: walletReplies.walletPageReply,
  },
  freezeWallet: {
    ...walletWrite,
    scope: "admin",
    summary: "Let nothing be taken out of a wallet",
    body: { schema: noMembersBody, optional: true },
    reply: walletReplies.freezeReply,
  },
  unfreezeWallet: {
    ...walletWrite,
    scope: "admin",
    summary: "Let a frozen wallet be used again",
    body: { schema: noMembersBody, optional: true },
    reply: walletReplies.freezeReply,
  },
} as const satisfies { [Name in keyof typeof pathTemplates]: Route };

/** Every route with its name and path, in the order of the table. */
export const routeList = (Object.entries(routes) as [RouteName, Route][]).map(([name, route]) => ({
  ...route,
  name,
  path: pathTemplates[name],
}));

export type Routes = typeof routes;
export type RouteName = keyof Routes;
export type RouteQuery<Name extends RouteName> = z.output<Routes[Name]["query"]>;
/** What a handler answers; a stream's lines as they are made, in UTF-8. */
export type RouteReply<Name extends RouteName> = Routes[Name] extends { isNdjson: true }
  ? AsyncIterable<Uint8Array>
  : Immutable<z.output<Routes[Name]["reply"]> | AtomicReply<Routes[Name]>>;
type AtomicReply<Entry> = Entry extends { atomic: { reply: infer Schema extends z.ZodType } }
  ? z.output<Schema>
  : never;

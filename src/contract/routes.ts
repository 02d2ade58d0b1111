// The whole API as one table of data: server, client and the OpenAPI page read it.
import type { z } from "zod";
import type { Scope } from "../core/ledger.ts";
import { pathTemplates } from "./paths.ts";
import { closeBody } from "./close-body.ts";
import { entriesBody } from "./bulk-entries-body.ts";
import { entryBody, reversalBody } from "./entry-body.ts";
import {
  accountsQuery,
  balanceQuery,
  closesQuery,
  entriesQuery,
  historyQuery,
  noQuery,
  postedWritesQuery,
  previewQuery,
  proofQuery,
  streamQuery,
  trialBalanceQuery,
} from "./query-schemas.ts";
import {
  accountListReply,
  balanceMessage,
  balanceReply,
  bulkReply,
  bundleReply,
  closePageReply,
  closePreviewReply,
  closeReply,
  closeWithBalancesReply,
  entriesReply,
  atomicEntriesReply,
  entryPageReply,
  entryReply,
  ledgerListReply,
  ledgerReply,
  postedWritesReply,
  proofReply,
  reserveReply,
  trialBalanceReply,
  walletBalanceReply,
  walletHistoryReply,
  walletReply,
  receiptReply,
} from "./replies.ts";
import {
  bulkMovementsBody,
  commitBody,
  movementBody,
  releaseBody,
  reserveBody,
} from "./wallet-body.ts";
import type { Immutable } from "./types.ts";

export interface Route {
  readonly method: "GET" | "POST";
  /** Parts in braces are parameters, each a whole segment; `{ledgerId}` is resolved before the handler. */
  readonly path: string;
  readonly scope: Scope;
  /** What its writes wait in, one lane a ledger; none where it writes nothing that waits. */
  readonly lane?: "journal" | "wallets";
  readonly summary: string;
  readonly query: z.ZodObject;
  /** The body's schema; null for none. Whether it may be left out. */
  readonly body: { readonly schema: z.ZodType; readonly optional: boolean } | null;
  /** 101: an upgrade to a WebSocket, whose messages are the reply. */
  readonly status: 101 | 200 | 201;
  readonly reply: z.ZodType;
  /** What it answers instead where the body says `atomic: true`. */
  readonly atomic?: { readonly status: 201; readonly reply: z.ZodType };
  /** The reply is NDJSON, sent as it is made. */
  readonly isStream?: true;
  /** Whether the reply has numbers that a double may not hold. */
  readonly hasExactNumbers?: true;
}

export const routes = {
  listLedgers: {
    method: "GET",
    path: pathTemplates.listLedgers,
    scope: "read",
    summary: "The ledgers of the key's organization",
    query: noQuery,
    body: null,
    status: 200,
    reply: ledgerListReply,
  },
  getLedger: {
    method: "GET",
    path: pathTemplates.getLedger,
    scope: "read",
    summary: "One ledger",
    query: noQuery,
    body: null,
    status: 200,
    reply: ledgerReply,
  },
  listAccounts: {
    method: "GET",
    path: pathTemplates.listAccounts,
    scope: "read",
    summary: "The chart of accounts",
    query: accountsQuery,
    body: null,
    status: 200,
    reply: accountListReply,
  },
  getBalance: {
    method: "GET",
    path: pathTemplates.getBalance,
    scope: "read",
    summary: "The balance of an account",
    query: balanceQuery,
    body: null,
    status: 200,
    reply: balanceReply,
    hasExactNumbers: true,
  },
  getTrialBalance: {
    method: "GET",
    path: pathTemplates.getTrialBalance,
    scope: "read",
    summary: "The trial balance of the live books",
    query: trialBalanceQuery,
    body: null,
    status: 200,
    reply: trialBalanceReply,
  },
  postEntry: {
    method: "POST",
    path: pathTemplates.postEntry,
    scope: "entries:write",
    lane: "journal",
    summary: "Post a journal entry",
    query: noQuery,
    body: { schema: entryBody, optional: false },
    status: 201,
    reply: receiptReply,
  },
  postEntries: {
    method: "POST",
    path: pathTemplates.postEntries,
    scope: "entries:write",
    lane: "journal",
    summary: "Post many entries, each by itself or atomically",
    query: noQuery,
    body: { schema: entriesBody, optional: false },
    status: 200,
    reply: entriesReply,
    atomic: { status: 201, reply: atomicEntriesReply },
  },
  listEntries: {
    method: "GET",
    path: pathTemplates.listEntries,
    scope: "read",
    summary: "Journal entries by sequence",
    query: entriesQuery,
    body: null,
    status: 200,
    reply: entryPageReply,
  },
  getEntry: {
    method: "GET",
    path: pathTemplates.getEntry,
    scope: "read",
    summary: "One journal entry with its lines",
    query: noQuery,
    body: null,
    status: 200,
    reply: entryReply,
  },
  reverseEntry: {
    method: "POST",
    path: pathTemplates.reverseEntry,
    scope: "entries:write",
    lane: "journal",
    summary: "Reverse a journal entry",
    query: noQuery,
    body: { schema: reversalBody, optional: true },
    status: 201,
    reply: receiptReply,
  },
  listPostedWrites: {
    method: "GET",
    path: pathTemplates.listPostedWrites,
    scope: "read",
    summary: "The wallet writes that an entry posts",
    query: postedWritesQuery,
    body: null,
    status: 200,
    reply: postedWritesReply,
  },
  closePeriod: {
    method: "POST",
    path: pathTemplates.closePeriod,
    scope: "periods:close",
    summary: "Close a period",
    query: noQuery,
    body: { schema: closeBody, optional: false },
    status: 201,
    reply: closeReply,
  },
  listCloses: {
    method: "GET",
    path: pathTemplates.listCloses,
    scope: "read",
    summary: "Closes by number",
    query: closesQuery,
    body: null,
    status: 200,
    reply: closePageReply,
  },
  previewClose: {
    method: "GET",
    path: pathTemplates.previewClose,
    scope: "read",
    summary: "What a close would do",
    query: previewQuery,
    body: null,
    status: 200,
    reply: closePreviewReply,
  },
  getClose: {
    method: "GET",
    path: pathTemplates.getClose,
    scope: "read",
    summary: "One close with its trial balance",
    query: noQuery,
    body: null,
    status: 200,
    reply: closeWithBalancesReply,
  },
  getProof: {
    method: "GET",
    path: pathTemplates.getProof,
    scope: "read",
    summary: "The proof that an entry is in a close",
    query: proofQuery,
    body: null,
    status: 200,
    reply: proofReply,
  },
  getBundle: {
    method: "GET",
    path: pathTemplates.getBundle,
    scope: "read",
    summary: "A close with all its entries, as NDJSON",
    query: noQuery,
    body: null,
    status: 200,
    reply: bundleReply,
    isStream: true,
  },
  creditWallet: {
    method: "POST",
    path: pathTemplates.creditWallet,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Add to a wallet",
    query: noQuery,
    body: { schema: movementBody, optional: false },
    status: 200,
    reply: walletReply,
  },
  debitWallet: {
    method: "POST",
    path: pathTemplates.debitWallet,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Take from a wallet",
    query: noQuery,
    body: { schema: movementBody, optional: false },
    status: 200,
    reply: walletReply,
  },
  getWalletBalance: {
    method: "GET",
    path: pathTemplates.getWalletBalance,
    scope: "read",
    summary: "A wallet's balance",
    query: noQuery,
    body: null,
    status: 200,
    reply: walletBalanceReply,
  },
  listWalletWrites: {
    method: "GET",
    path: pathTemplates.listWalletWrites,
    scope: "read",
    summary: "A wallet's log",
    query: historyQuery,
    body: null,
    status: 200,
    reply: walletHistoryReply,
  },
  streamWallet: {
    method: "GET",
    path: pathTemplates.streamWallet,
    scope: "read",
    summary: "A wallet's changes, live (a WebSocket)",
    query: streamQuery,
    body: null,
    status: 101,
    reply: balanceMessage,
  },
  reserveFunds: {
    method: "POST",
    path: pathTemplates.reserveFunds,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Hold a part of a wallet",
    query: noQuery,
    body: { schema: reserveBody, optional: false },
    status: 200,
    reply: reserveReply,
  },
  commitHold: {
    method: "POST",
    path: pathTemplates.commitHold,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Take what was held, or a part of it",
    query: noQuery,
    body: { schema: commitBody, optional: true },
    status: 200,
    reply: walletReply,
  },
  releaseHold: {
    method: "POST",
    path: pathTemplates.releaseHold,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Let go of what was held",
    query: noQuery,
    body: { schema: releaseBody, optional: true },
    status: 200,
    reply: walletReply,
  },
  writeWallets: {
    method: "POST",
    path: pathTemplates.writeWallets,
    scope: "wallets:write",
    lane: "wallets",
    summary: "Many credits and debits, each by itself",
    query: noQuery,
    body: { schema: bulkMovementsBody, optional: false },
    status: 200,
    reply: bulkReply,
  },
} as const satisfies { [Name in keyof typeof pathTemplates]: Route };

export type Routes = typeof routes;
export type RouteName = keyof Routes;
export type RouteQuery<Name extends RouteName> = z.output<Routes[Name]["query"]>;
/** What a handler answers; a stream's lines as they are made. */
export type RouteReply<Name extends RouteName> = Routes[Name] extends { isStream: true }
  ? AsyncIterable<string>
  : Immutable<z.output<Routes[Name]["reply"]> | AtomicReply<Routes[Name]>>;
type AtomicReply<Entry> = Entry extends { atomic: { reply: infer Schema extends z.ZodType } }
  ? z.output<Schema>
  : never;

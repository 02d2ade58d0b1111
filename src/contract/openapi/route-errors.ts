// Which refusals a route can answer, from what its row says; and what each refusal means.
import { problemKinds, type ProblemName } from "../../core/errors.ts";
import type { routeList } from "../routes.ts";

export type DocumentedRoute = (typeof routeList)[number];

/** Any route may answer these. */
const always: readonly ProblemName[] = [
  "unauthorized",
  "rateLimited",
  "insufficientScope",
  "unavailable",
  "internal",
];

/** Whether a refusal can come from a route, for refusals that not every route answers. */
const rules: readonly (readonly [applies: (route: DocumentedRoute) => boolean, ProblemName[]])[] = [
  [({ path }) => /\{(ledgerId|walletKey)\}/.test(path), ["ledgerNotFound"]],
  [hasInput, ["validation"]],
  [({ body }) => body !== null, ["bodyTooLarge", "unsupportedMediaType"]],
  [({ method }) => method !== "GET", ["outcomeUnknown"]],
  [({ scope }) => scope === "entries:write", ["duplicateEntry", "periodClosed"]],
  [(route) => isWrite(route) || closes(route), ["ledgerClosed"]],
  [isWrite, ["ledgerSuspended"]],
  [closes, ["periodOutOfOrder"]],
  [(route) => names(route, "entryId"), ["entryNotFound"]],
  [(route) => names(route, "closeId") || names(route, "periodId"), ["closeNotFound"]],
  [(route) => names(route, "account") || names(route, "glAccountCode"), ["accountNotFound"]],
  [({ path }) => path.includes("{log}"), ["unknownPath", "checkpointNotFound"]],
  [({ path }) => path.includes("{holdId}"), ["holdNotFound", "holdResolved"]],
  [({ path }) => path.includes("{deliveryId}"), ["deliveryNotFound"]],
  [({ status }) => status === 101, ["upgradeRequired"]],
];

/** What the rows of the table can't tell. */
const more: Partial<Record<string, readonly ProblemName[]>> = {
  reverseEntry: ["alreadyReversed", "reversalNotReversible", "walletBatchNotReversible"],
  previewClose: ["ledgerClosed"],
  creditWallet: ["limitExceeded"],
  debitWallet: ["walletFrozen", "insufficientFunds", "limitExceeded"],
  reserveFunds: ["walletFrozen", "insufficientFunds"],
  commitHold: ["walletFrozen", "limitExceeded"],
  transferFunds: [
    ...(["partlyDuplicate", "walletFrozen", "holdNotFound", "holdResolved"] as const),
    ...(["insufficientFunds", "limitExceeded"] as const),
  ],
  freezeWallet: ["ledgerSuspended", "ledgerClosed", "walletNotFound"],
  unfreezeWallet: ["ledgerSuspended", "ledgerClosed", "walletNotFound"],
  getLogProof: ["notLoggedYet"],
  importAccounts: ["accountInUse"],
};

/** Rules that take too much for granted. */
const never: Partial<Record<string, readonly ProblemName[]>> = {
  // A filter that finds nothing finds nothing.
  listEntries: ["accountNotFound"],
  previewClose: ["closeNotFound"],
  // What fails in one item is in the answer of 200.
  writeWallets: ["ledgerClosed", "ledgerSuspended", "outcomeUnknown"],
};

/** The refusals of a route in the order of precedence. */
export function errorsOf(route: DocumentedRoute): ProblemName[] {
  const applying = new Set([
    ...always,
    ...rules.flatMap(([applies, problems]) => (applies(route) ? problems : [])),
    ...(more[route.name] ?? []),
  ]);
  for (const problem of never[route.name] ?? []) applying.delete(problem);
  return (Object.keys(problemKinds) as ProblemName[]).filter((problem) => applying.has(problem));
}

/** Of a body, a query, or a wallet's key, which is more than an id. */
function hasInput({ body, query, path }: DocumentedRoute): boolean {
  return body !== null || Object.keys(query.shape).length > 0 || path.includes("{walletKey}");
}

function isWrite({ scope }: DocumentedRoute): boolean {
  return scope === "entries:write" || scope === "wallets:write";
}

function closes({ scope }: DocumentedRoute): boolean {
  return scope === "periods:close";
}

/** In the path or in the query. */
function names({ path, query }: DocumentedRoute, parameter: string): boolean {
  return path.includes(`{${parameter}}`) || parameter in query.shape;
}

/** When a refusal is answered. */
export const problemMeanings: Readonly<Record<ProblemName, string>> = {
  unknownPath: "there is nothing at this path",
  methodNotAllowed: "the path exists, but not for this method; `Allow` lists those that it has",
  bodyTooLarge: "the body is over the server's limit",
  unauthorized: "key, timestamp or signature is missing, invalid, expired or revoked",
  rateLimited: "the API key is over the server's rate limit; `Retry-After` says for how long",
  ledgerNotFound: "there is no such ledger, or it is another organization's",
  insufficientScope: "the key lacks the scope that the endpoint needs",
  unsupportedMediaType: "the body is not declared application/json, not in UTF-8, or compressed",
  validation: "a query parameter or the body is wrong; `errors` has every fault and its place",
  duplicateEntry: "the externalId is in use; `journalId` and `persistedAt` are of its entry",
  partlyDuplicate: "some of atomic transfers were made before; nothing is written",
  alreadyReversed: "the entry has a reversal, `reversalJournalId`",
  ledgerSuspended: "the ledger is suspended, and accepts no writes",
  ledgerClosed: "the ledger is closed, and accepts nothing more",
  walletFrozen: "the wallet is frozen: nothing can be taken out of it",
  entryNotFound: "the ledger has no entry with this id",
  closeNotFound: "the ledger has no such close or period, or the close does not cover the entry",
  checkpointNotFound: "the log has no such checkpoint, or the server has no log key",
  accountInUse: "wallets are posted to an account that was to be made inactive; nothing is changed",
  accountNotFound: "the chart of accounts does not have this code",
  deliveryNotFound: "the ledger has no delivery with this id",
  reversalNotReversible: "the entry is a reversal itself",
  walletBatchNotReversible: "the entry is a posting of wallets",
  periodClosed: "the entry is dated in a closed period: `periodId`, `closeId`",
  periodOutOfOrder: "earlier entries are not closed, in a ledger whose closes come in order",
  notLoggedYet: "no checkpoint covers the record yet; `Retry-After` says when to try again",
  walletNotFound: "nothing was ever written to the wallet",
  holdNotFound: "the wallet has no hold with this id",
  holdResolved: "the hold was committed, released or transferred, or has expired",
  insufficientFunds: "more than is available; nothing was written",
  limitExceeded: "more than `maxBalance` or `dailyDebitMax` of the asset's rule allows",
  upgradeRequired: "a plain request to a WebSocket",
  unavailable: "overloaded, stopping, or the database is away; certainly not written",
  outcomeUnknown:
    "it could not be learned whether this was written; a retry with the same externalId is safe",
  internal: "a bug; the server's log has it under the request's id",
};

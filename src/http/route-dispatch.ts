// One request of the API from its raw bytes to its reply, in the order of precedence: who calls,
// whose ledger, may they, is it well-formed, and only then the handler.
import { isUtf8, type Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal, validationRefusal } from "../core/errors.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { labelCodePointsMax, textFault } from "../core/text.ts";
import { parseExactJson, stringifyExactJson, type ExactJson } from "../contract/exact-json.ts";
import { hasControlCharacter } from "../contract/wallet-body.ts";
import { parseQuery } from "../contract/query-schemas.ts";
import { routes, type Route, type RouteName } from "../contract/routes.ts";
import type { Authenticator, Caller } from "./authenticate.ts";
import type { Crowd, Crowds } from "./backpressure.ts";
import {
  getEntry,
  listEntries,
  postEntries,
  postEntry,
  reverseEntry,
} from "./handlers/journal-entries.ts";
import {
  closePeriod,
  getBundle,
  getClose,
  getProof,
  listCloses,
  previewClose,
} from "./handlers/period-closes.ts";
import { getBalance, getLedger, listAccounts, listLedgers } from "./handlers/ledgers.ts";
import { getTrialBalance } from "./handlers/trial-balance.ts";
import {
  commitHold,
  creditWallet,
  debitWallet,
  getWalletBalance,
  listPostedWrites,
  listWalletWrites,
  releaseHold,
  reserveFunds,
  streamWallet,
  writeWallets,
} from "./handlers/wallets.ts";
import type { HandlerContext, RouteHandler, RouteRequest } from "./handlers/route-handler.ts";
import type { LedgerDirectory } from "./ledger-directory.ts";

const handlers: { [Name in RouteName]: RouteHandler<Name> } = {
  listLedgers,
  getLedger,
  listAccounts,
  getBalance,
  getTrialBalance,
  postEntry,
  postEntries,
  listEntries,
  getEntry,
  reverseEntry,
  listPostedWrites,
  closePeriod,
  listCloses,
  previewClose,
  getClose,
  getProof,
  getBundle,
  creditWallet,
  debitWallet,
  getWalletBalance,
  listWalletWrites,
  streamWallet,
  reserveFunds,
  commitHold,
  releaseHold,
  writeWallets,
};

/** Decoded parts of a path, by their names in the route's. */
export type PathParameters = Readonly<Record<string, string>>;

export interface RawRequest {
  readonly id: string;
  readonly method: string;
  /** The request target as it stands on the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly parameters: PathParameters;
  readonly body: Buffer | null;
  /** Aborts when the caller is gone, or has the whole answer. */
  readonly gone: () => AbortSignal;
}

export interface Dispatcher {
  readonly books: HandlerContext;
  readonly authenticator: Authenticator;
  readonly ledgers: LedgerDirectory;
  readonly crowds: Crowds;
}

/** What is noted of a request while it runs, for its line in the log and for what follows its answer. */
export interface RequestNotes {
  caller: Caller | undefined;
  refusal: Refusal | undefined;
  /** Of a write: those who write to the same ledger. */
  crowd: Crowd | undefined;
}

/**
 * Answers with the reply's status and its JSON text or NDJSON lines, or throws a Refusal. Notes who called,
 * and a bug that an answer of 200 tells of one of its parts.
 */
export async function dispatch(
  { books, authenticator, ledgers, crowds }: Dispatcher,
  name: RouteName,
  raw: RawRequest,
  notes: RequestNotes,
): Promise<{ status: number; body: string | AsyncIterable<string> }> {
  const route: Route = routes[name];
  const caller = await authenticateRequest(authenticator, raw);
  notes.caller = caller;
  const { ledger, callerKey } = await resolveLedger(ledgers, caller, raw.parameters);
  if (!caller.scopes.includes(route.scope)) {
    throw new Refusal("insufficientScope", `the API key lacks the scope ${route.scope}`);
  }
  if (callerKey !== null) requireCallerKey(callerKey);
  const query = readQuery(route, raw.target);
  const body = readBody(route, raw);
  // Member by member: a spread of what the router made costs more than the rest of this function.
  const { entryId, holdId, closeId } = raw.parameters;
  const request = {
    entryId,
    holdId,
    closeId,
    caller,
    ledger,
    callerKey,
    query,
    body,
    bodyBytes: raw.body?.length ?? 0,
    gone: raw.gone,
    requestId: raw.id,
    noteRefusal: (refusal: Refusal) => {
      if (refusal.problem === "internal") notes.refusal = refusal;
    },
  };
  const answer = () => handle(books, name, request);
  if (ledger !== null && roomFor(books, route) !== null) {
    // Writes of one kind to one ledger wait for each other.
    notes.crowd = crowds.of(`${route.scope} ${ledger.ledgerId}`);
  }
  const reply = await (notes.crowd?.among(answer) ?? answer());
  const { status } = route.atomic !== undefined && isAtomic(body) ? route.atomic : route;
  return {
    status,
    body: route.isStream ? (reply as AsyncIterable<string>) : stringify(route, reply),
  };
}

/** What knows whether a ledger has room for a write. */
export interface Room {
  isFull(ledgerId: string): boolean;
}

/**
 * The room that writes of a route need; null for routes that write nothing that waits. To be asked before a body is
 * read and a signature checked: what is refused must cost little of what the others need.
 */
export function roomFor({ journal, wallets }: HandlerContext, { scope }: Route): Room | null {
  if (scope === "wallets:write") return wallets;
  return scope === "entries:write" ? journal : null;
}

/** The ledger's id in a path: `{ledgerId}`, or the part of `{walletKey}` before its first colon; null for none. */
export function ledgerIdIn({ ledgerId, walletKey }: PathParameters): string | null {
  if (walletKey === undefined) return ledgerId ?? null;
  const colon = walletKey.indexOf(":");
  return colon < 0 ? null : walletKey.slice(0, colon);
}

/** Whether a body that has been accepted says that it is to be taken whole or not at all. */
function isAtomic(body: ExactJson | null): boolean {
  return (body?.value as { atomic?: unknown } | undefined)?.atomic === true;
}

/** Who sent a request, or the refusal `unauthorized`. */
export function authenticateRequest(
  authenticator: Authenticator,
  { method, target, headers, body }: Omit<RawRequest, "id" | "parameters" | "gone">,
): Promise<Caller> {
  return authenticator.authenticate({
    authorization: headers.authorization,
    timestamp: singleHeader(headers["x-timestamp"]),
    signature: singleHeader(headers["x-signature"]),
    method,
    target,
    body: body ?? "",
  });
}

/**
 * The ledger of a path, which `{ledgerId}` names or the part of `{walletKey}` before its first colon, and
 * the part behind it; null where the path names neither. A wallet key without a colon names no ledger, and
 * `requireCallerKey` refuses it in its turn.
 */
export async function resolveLedger(
  ledgers: LedgerDirectory,
  caller: Caller,
  parameters: PathParameters,
): Promise<{ ledger: LedgerIdentity | null; callerKey: string | null }> {
  const ledgerId = ledgerIdIn(parameters);
  const ledger =
    ledgerId === null ? null : await ledgers.getLedger(caller.organizationId, ledgerId);
  const { walletKey } = parameters;
  if (walletKey === undefined) return { ledger, callerKey: null };
  return { ledger, callerKey: ledgerId === null ? "" : walletKey.slice(ledgerId.length + 1) };
}

/** 1 to 256 characters, none of them a control character. */
export function requireCallerKey(callerKey: string): void {
  const fault = hasControlCharacter(callerKey)
    ? "must not contain control characters"
    : textFault(callerKey, labelCodePointsMax);
  if (fault === null) return;
  throw validationRefusal([
    { path: [], detail: `walletKey must be {ledgerId}:{callerKey}; callerKey ${fault}` },
  ]);
}

/** The table of handlers is typed name by name, after its path; which name it is, is known only here. */
function handle(books: HandlerContext, name: RouteName, request: unknown): Promise<unknown> {
  const handler = handlers[name] as RouteHandler<RouteName>;
  return handler(books, request as RouteRequest<RouteName>);
}

function stringify(route: Route, reply: unknown): string {
  // The exact writer is slower.
  return route.hasExactNumbers === true
    ? stringifyExactJson(reply as never)
    : JSON.stringify(reply);
}

/** The query of a request target, or every fault that it has. */
export function readQuery(route: Route, target: string): unknown {
  const question = target.indexOf("?");
  const rawQuery = question < 0 ? "" : target.slice(question + 1);
  const query = parseQuery(route.query, Object.keys(route.query.shape), rawQuery);
  if (query.faults) throw validationRefusal(query.faults);
  return query.value;
}

function readBody(route: Route, raw: RawRequest): ExactJson | null {
  if (route.body === null || raw.body === null || raw.body.length === 0) return null;
  requireJson(raw.headers);
  if (!isUtf8(raw.body)) {
    throw validationRefusal([{ path: [], detail: "the body is not valid UTF-8" }]);
  }
  try {
    return parseExactJson(raw.body.toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw validationRefusal([{ path: [], detail: `the body is not valid JSON: ${error.message}` }]);
  }
}

function requireJson(headers: IncomingHttpHeaders): void {
  if (isPlainJson(headers)) return;
  const [mediaType = "", ...parameters] = (headers["content-type"] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  const encoding = headers["content-encoding"] ?? "identity";
  const isJson =
    mediaType === "application/json" &&
    (charset === undefined || /^charset="?utf-?8"?$/.test(charset)) &&
    encoding.toLowerCase() === "identity";
  if (!isJson) {
    throw new Refusal(
      "unsupportedMediaType",
      "the body must be declared application/json in UTF-8",
    );
  }
}

/** What nearly every client sends; the rest of the rule need not be read for it. */
function isPlainJson(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"] === "application/json" && !("content-encoding" in headers);
}

/** A header that is sent twice reaches us joined with a comma, and then is no valid value. */
function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

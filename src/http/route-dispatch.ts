// One request of the API from its raw bytes to its reply, in the order of precedence: who calls,
// whose ledger, may they, is it well-formed, and only then the handler.
import type { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "../core/errors.ts";
import { stringifyExactJson, type ExactJson } from "../contract/exact-json.ts";
import { bulkItemsMax } from "../contract/field-schemas.ts";
import { parseQuery } from "../contract/query-schemas.ts";
import { routes, type Route, type RouteName, type RouteQuery } from "../contract/routes.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import type { Authenticator, Caller } from "./authenticate.ts";
import * as administrationHandlers from "./handlers/administration.ts";
import * as bookHandlers from "./handlers/books.ts";
import * as deliveryHandlers from "./handlers/deliveries.ts";
import * as entryHandlers from "./handlers/journal-entries.ts";
import * as ledgerHandlers from "./handlers/ledgers.ts";
import * as logHandlers from "./handlers/logs.ts";
import * as closeHandlers from "./handlers/period-closes.ts";
import type { Services, RouteHandler, RouteRequest } from "./handlers/route-handler.ts";
import * as streamHandlers from "./handlers/streams.ts";
import * as transferHandlers from "./handlers/wallet-transfers.ts";
import * as walletHandlers from "./handlers/wallets.ts";
import { readJsonBody } from "./json-body.ts";
import type { LedgerDirectory } from "./ledger-directory.ts";
import { requireCallerKey, resolveLedger, type PathParameters } from "./path-parameters.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { RequestNotes } from "./request-notes.ts";

/** The handler of each route, by the name that both have. */
const routeHandlers: { [Name in RouteName]: RouteHandler<Name> } = {
  ...entryHandlers,
  ...ledgerHandlers,
  ...bookHandlers,
  ...closeHandlers,
  ...logHandlers,
  ...walletHandlers,
  ...streamHandlers,
  ...administrationHandlers,
  ...transferHandlers,
  createDelivery: deliveryHandlers.createDelivery,
  listDeliveries: deliveryHandlers.listDeliveries,
  deleteDelivery: deliveryHandlers.deleteDelivery,
  pauseDelivery: deliveryHandlers.pauseDelivery,
  resumeDelivery: deliveryHandlers.resumeDelivery,
  replayDelivery: deliveryHandlers.replayDelivery,
};

interface RawRequest {
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
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly ledgers: LedgerDirectory;
  /** Null where keys have no rate limit. */
  readonly rateLimiter: RateLimiter | null;
}

/** A request whose caller may make it: what its path names, null where it does not, and its query. */
interface Authorized<Name extends RouteName> {
  readonly caller: Caller;
  readonly ledger: LedgerIdentity | null;
  readonly callerKey: string | null;
  readonly query: RouteQuery<Name>;
}

/**
 * Answers with the reply's status and its JSON text or NDJSON lines, or throws a Refusal. Notes who called,
 * and a bug that an answer of 200 reports of one of its parts.
 */
export async function dispatch(
  dispatcher: Dispatcher,
  name: RouteName,
  raw: RawRequest,
  notes: RequestNotes,
): Promise<{ status: number; body: string | AsyncIterable<Uint8Array> }> {
  const route: Route = routes[name];
  const readBody = bodyReader(route, raw);
  const countTokens = () => countItems(route, readBody);
  const authorized = await authorize(dispatcher, name, raw, notes, countTokens);
  const { caller, ledger, callerKey, query } = authorized;
  const body = readBody();
  // Member by member: a spread of what the router made costs more than the rest of this function.
  const { entryId, holdId, closeId, log, assetCode, deliveryId, glAccountCode } = raw.parameters;
  const request = {
    entryId,
    holdId,
    closeId,
    log,
    assetCode,
    deliveryId,
    glAccountCode,
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
      // One item of a bulk.
      if (refusal.problem === "unavailable") notes.bucket?.giveBack(1);
    },
  };
  const reply = await handle(dispatcher.services, name, request);
  const { status } = route.atomic !== undefined && isAtomic(body) ? route.atomic : route;
  return {
    status,
    body: route.isNdjson ? (reply as AsyncIterable<Uint8Array>) : stringify(route, reply),
  };
}

/** The JSON of a request's body, parsed when it is first asked for. It throws what `readJsonBody` does. */
function bodyReader(route: Route, raw: RawRequest): () => ExactJson | null {
  let body: ExactJson | null = null;
  return () => (body ??= route.body === null ? null : readJsonBody(raw.headers, raw.body));
}

/** How many items a request has: 1, but for a bulk. A body that is none is refused later, in the order of precedence. */
function countItems({ items }: Route, readBody: () => ExactJson | null): number {
  if (items === undefined) return 1;
  try {
    const list = (readBody()?.value as Record<string, unknown> | null | undefined)?.[items];
    // More are refused as a whole.
    return Array.isArray(list) ? Math.max(1, Math.min(list.length, bulkItemsMax)) : 1;
  } catch (error) {
    if (error instanceof Refusal) return 1;
    throw error;
  }
}

/** Whether a body that has been accepted says that it is to be taken whole or not at all. */
function isAtomic(body: ExactJson | null): boolean {
  return (body?.value as { atomic?: unknown } | undefined)?.atomic === true;
}

/**
 * Who sent a request, and what its path and query name, or the first refusal in the order of precedence. `countTokens`:
 * what the request costs of the rate limit of its key, 1 unless given.
 */
export async function authorize<Name extends RouteName>(
  { authenticator, ledgers, rateLimiter }: Dispatcher,
  name: Name,
  { method, target, headers, body, parameters }: Omit<RawRequest, "id" | "gone">,
  notes: Pick<RequestNotes, "caller" | "bucket" | "tokensTaken">,
  countTokens?: () => number,
): Promise<Authorized<Name>> {
  const { query, scope }: Route = routes[name];
  const caller = await authenticator.authenticate({
    authorization: headers.authorization,
    timestamp: singleHeader(headers["x-timestamp"]),
    signature: singleHeader(headers["x-signature"]),
    method,
    target,
    body: body ?? "",
  });
  notes.caller = caller;
  // Not before: a stranger can't use up the tokens of somebody else's key.
  notes.bucket = rateLimiter?.bucketOf(caller.apiKey);
  notes.tokensTaken = notes.bucket?.take(countTokens) ?? 0;
  const { ledger, callerKey } = await resolveLedger(ledgers, caller, parameters);
  if (!caller.scopes.includes(scope)) {
    throw new Refusal("insufficientScope", `the API key lacks the scope ${scope}`);
  }
  if (callerKey !== null) requireCallerKey(callerKey, parameters);
  const question = target.indexOf("?");
  const rawQuery = question < 0 ? "" : target.slice(question + 1);
  const parsed = parseQuery(query, Object.keys(query.shape), rawQuery);
  return { caller, ledger, callerKey, query: parsed as RouteQuery<Name> };
}

/** The table of handlers is typed name by name, after its path; which name it is, is known only here. */
function handle(services: Services, name: RouteName, request: unknown): Promise<unknown> {
  const handler = routeHandlers[name] as RouteHandler<RouteName>;
  return handler(services, request as RouteRequest<RouteName>);
}

function stringify(route: Route, reply: unknown): string {
  if (route.isText === true) return reply as string;
  // The exact writer is slower.
  return route.hasExactNumbers === true
    ? stringifyExactJson(reply as never)
    : JSON.stringify(reply);
}

/** A header that is sent twice reaches us joined with a comma, and then is no valid value. */
function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

// The HTTP server: sockets and their limits, request ids, logs, health, and the order in which it
// stops. What a request means is in route-dispatch.ts.
import { METHODS, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { newId } from "../engine/new-id.ts";
import { isOverload, overloadRefusal, Refusal } from "../core/errors.ts";
import { routes, type Route, type RouteName } from "../contract/routes.ts";
import type { Log } from "../log.ts";
import { openApiDocument } from "../contract/openapi.ts";
import type { StreamHub } from "../engine/stream-hub.ts";
import { isOverLimit, limitConnections, rejectionOf, retryAfterSeconds } from "./admission.ts";
import {
  giveUp,
  HeldAnswers,
  isGivenUp,
  isLatest,
  watchConnections,
  watchProgress,
  whenClosed,
  whenUnconnected,
} from "./connections.ts";
import { documentationPage } from "./documentation-page.ts";
import type { HttpCounts } from "./http-counts.ts";
import { metricsContentType } from "./metrics.ts";
import { isFromLoopback } from "./metrics-server.ts";
import type { PathParameters } from "./path-parameters.ts";
import { asRefusal, problemReply, unreadableReply } from "./problems.ts";
import { RequestBodies } from "./request-bodies.ts";
import { logAnswer, RejectionLog } from "./request-log.ts";
import { dispatch, type Dispatcher, type RequestNotes } from "./route-dispatch.ts";
import { serveWalletStreams } from "./wallet-stream.ts";

export interface HttpServerOptions {
  readonly dispatcher: Dispatcher;
  readonly hub: StreamHub;
  readonly log: Log;
  readonly version: string;
  readonly bodyBytesMax: number;
  readonly clockWindowSeconds: number;
  readonly connectionsMax: number;
  /** Rejects, or says why not, while the service can't take requests. */
  readonly readiness: () => Promise<{ ready: boolean; reason: string | null }>;
  readonly counts: HttpCounts;
  /** The text of `/metrics` for this machine; null where they have an address of their own. */
  readonly metrics: (() => Promise<string>) | null;
}

export interface HttpServer {
  /** Binds and resolves with the URL; port 0 takes a free one. */
  listen(host: string, port: number): Promise<string>;
  /**
   * Answers for a moment what clients had sent before they could know, each time with `Connection: close`;
   * then takes no new connections, lets requests under way finish up to the grace period, and cuts.
   */
  close(graceMs: number): Promise<void>;
}

const headerBytesMax = 16 * 1024;
const idleTimeoutMs = 75_000;
const requestTimeoutMs = 30_000;
/** How long a stopping server still answers on connections that were open. */
const partingMsMax = 1_000;
const heldBodyBytesMax = 128 * 1024 * 1024;
const heldAnswerBytesMax = 128 * 1024 * 1024;
/** Of answers that are streamed, apart from the others: one kind can't keep out the other. */
const heldStreamBytesMax = 128 * 1024 * 1024;
/** Of one organization, so that it can't keep out the others. */
const heldStreamBytesPerOrganization = heldStreamBytesMax / 4;
/** What one holds while its reader does not read: pieces that were read ahead, as rows and as text. */
const streamBytes = 4 * 1024 * 1024;

/** What is noted of a request while it runs, for its answer, its line in the log and the counts. */
interface AnswerNotes extends RequestNotes {
  route: RouteName | null;
  body: Buffer | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Missing where a request broke before the first hook. */
    notes?: AnswerNotes | null;
  }
}

function newNotes(): AnswerNotes {
  return { route: null, body: null, caller: undefined, refusal: undefined };
}

/** Puts the server together; it is not bound before `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const app = fastify({
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => {
      answerRefusal(error, request, reply);
    },
    genReqId: () => newId(),
    requestIdHeader: false,
    keepAliveTimeout: idleTimeoutMs,
    requestTimeout: requestTimeoutMs,
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: requestTimeoutMs,
      // A header that may be sent once only is no valid value when it is sent twice, Authorization above all.
      joinDuplicateHeaders: true,
      // Refused by a hook instead, so that this answer too has its problem and request id.
      requireHostHeader: false,
    },
    forceCloseConnections: "idle",
    // Requests on open connections are served until the drain is over; readiness says what is coming.
    return503OnClosing: false,
    // A path may be as long as the header limit lets it be.
    routerOptions: { maxParamLength: headerBytesMax, querystringParser: () => ({}) },
    clientErrorHandler: answerBrokenRequest,
  });
  app.server.on("checkExpectation", answerExpectation);
  limitConnections(app.server, options.connectionsMax, options.counts);
  watchConnections(app.server);
  leaveBodies(app);
  app.decorateRequest("notes", null);
  const state = { isStopping: false };
  addHooks(app, options, state);
  addApiRoutes(app, options);
  addOwnRoutes(app, options);
  app.setNotFoundHandler((request, reply) => {
    answerRefusal(new Refusal("unknownPath", "there is nothing here"), request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    answerRefusal(error, request, reply);
  });
  const streams = serveWalletStreams(app.server, options);
  return {
    listen: (host, port) => app.listen({ host, port }),
    close: async (graceMs) => {
      state.isStopping = true;
      streams.close(graceMs);
      const partingMs = Math.min(partingMsMax, graceMs / 2);
      await whenUnconnected(app.server, partingMs);
      await closeWithin(app, graceMs - partingMs);
    },
  };
}

/**
 * The signature covers the bytes of the body, so the handlers of the API take them as they come, whatever
 * they claim to be; nobody else wants one.
 */
function leaveBodies(app: FastifyInstance): void {
  for (const method of METHODS) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** Without promises: these run for every request. What they throw is answered by the error handler. */
function addHooks(
  app: FastifyInstance,
  { log, counts }: HttpServerOptions,
  state: { isStopping: boolean },
): void {
  const rejections = new RejectionLog(log);
  app.addHook("onRequest", (request, reply, done) => {
    request.notes = newNotes();
    reply.header("x-request-id", request.id);
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined) {
      answerHostless(request, reply);
      return;
    }
    // An unknown path is told before the body is read.
    if (request.is404) throw new Refusal("unknownPath", "there is nothing here");
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    watchProgress(request.raw.socket);
    const isLast = state.isStopping || isOverLimit(request.raw.socket);
    if (isLast && isLatest(reply.raw)) reply.header("connection", "close");
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    counts.countAnswer(request.notes?.route ?? "none", reply.statusCode);
    logRequest(log, rejections, request, reply);
    done();
  });
}

function logRequest(
  log: Log,
  rejections: RejectionLog,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { caller, refusal } = request.notes ?? {};
  if (isOverload(refusal)) {
    rejections.count();
    // A line each for those who want to see everything.
    if (!log.isLevelEnabled("debug")) return;
  }
  logAnswer(log, reply.statusCode, refusal, () => ({
    requestId: request.id,
    method: request.method,
    path: pathOf(request),
    durationMs: reply.elapsedTime,
    remoteAddress: request.ip,
    caller,
  }));
}

function addApiRoutes(
  app: FastifyInstance,
  { dispatcher, bodyBytesMax }: Pick<HttpServerOptions, "dispatcher" | "bodyBytesMax">,
): void {
  const { books } = dispatcher;
  const methodsByPath = new Map<string, string[]>();
  const bodies = new RequestBodies({
    bodyBytesMax,
    heldBytesMax: Math.max(heldBodyBytesMax, 8 * bodyBytesMax),
  });
  const held = new HeldAnswers(heldAnswerBytesMax);
  const heldStreams = new HeldAnswers(heldStreamBytesMax, heldStreamBytesPerOrganization);
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const url = route.path.replace(/\{(\w+)\}/g, ":$1");
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), route.method]);
    app.route({
      method: route.method,
      url,
      onRequest: (request, reply, done) => {
        const { params, raw } = request;
        const rejection = rejectionOf(books, route, params as PathParameters, raw.socket);
        if (rejection === null) {
          done();
          return;
        }
        if (request.notes) request.notes.route = name;
        answerRefusal(rejection, request, reply);
      },
      handler: async (request, reply) => {
        const notes = (request.notes ??= newNotes());
        notes.route = name;
        notes.body = await bodies.read(request.raw, reply.raw);
        // The last bytes of a request may come after its client was told that it was given up.
        if (isGivenUp(reply.raw)) return reply.hijack();
        const { status, body } = await dispatch(
          dispatcher,
          name,
          {
            id: request.id,
            method: request.method,
            target: request.raw.url ?? "",
            headers: request.headers,
            parameters: request.params as PathParameters,
            body: notes.body,
            gone: () => whenClosed(reply.raw),
          },
          notes,
        );
        const reader = notes.caller?.organizationId ?? "";
        if (typeof body !== "string") {
          if (!heldStreams.hold(reply.raw, streamBytes, reader)) throw tooManyHeld();
          return reply
            .code(status)
            .type("application/x-ndjson; charset=utf-8")
            .send(Readable.from(body, { highWaterMark: 1 }));
        }
        // What a write did has to be told; a read can be asked again.
        if (!held.hold(reply.raw, body, reader) && route.method === "GET") throw tooManyHeld();
        return reply.code(status).type("application/json; charset=utf-8").send(body);
      },
    });
  }
  for (const [url, methods] of methodsByPath) refuseOtherMethods(app, url, methods);
}

function tooManyHeld(): Refusal {
  return overloadRefusal("too many answers wait for their readers");
}

/** 405 comes before the body is read and before anybody asks who is calling. */
function refuseOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  app.route({
    // CONNECT never reaches a route: Node hands it to a listener of its own, which there is not.
    method: METHODS.filter((method) => !methods.includes(method) && method !== "CONNECT"),
    url,
    onRequest: (_request, reply) => {
      reply.header("allow", methods.join(", "));
      throw new Refusal("methodNotAllowed", `only ${methods.join(" and ")} is answered here`);
    },
    handler: async () => undefined,
  });
}

function addOwnRoutes(app: FastifyInstance, options: HttpServerOptions): void {
  const { readiness, version, clockWindowSeconds } = options;
  const openApi = JSON.stringify(openApiDocument(version));
  const page = documentationPage(version, clockWindowSeconds);
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const { ready, reason } = await readiness();
    if (!ready) reply.code(503).header("retry-after", retryAfterSeconds());
    return { status: ready ? "ready" : "unavailable", reason };
  });
  app.get("/openapi.json", async (_request, reply) => reply.type("application/json").send(openApi));
  app.get("/docs", async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
  for (const url of ["/healthz", "/readyz", "/openapi.json", "/docs"]) {
    refuseOtherMethods(app, url, ["GET"]);
  }
  if (options.metrics !== null) addMetrics(app, options.metrics);
}

/** To others than this machine there is nothing here, whatever the method. */
function addMetrics(app: FastifyInstance, metrics: () => Promise<string>): void {
  app.route({
    method: METHODS.filter((method) => method !== "CONNECT"),
    url: "/metrics",
    onRequest: async (request, reply) => {
      if (!isFromLoopback(request.raw)) throw new Refusal("unknownPath", "there is nothing here");
      if (request.method === "GET") return;
      reply.header("allow", "GET");
      throw new Refusal("methodNotAllowed", "only GET is answered here");
    },
    handler: async (_request, reply) => reply.type(metricsContentType).send(await metrics()),
  });
}

function answerRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asRefusal(error);
  const { notes } = request;
  if (notes) notes.refusal = refusal;
  const { status, headers, body } = problemReply(refusal, {
    id: request.id,
    path: pathOf(request),
    hasExternalId: refusal.problem === "outcomeUnknown" && mentionsExternalId(notes?.body),
  });
  reply.header("x-request-id", request.id).code(status).headers(headers).send(body);
}

/**
 * Only asked when an outcome is unknown: an accepted body with this member has it as its idempotency key. Of
 * an atomic bulk, one entry that has it keeps all of them from being posted twice.
 */
function mentionsExternalId(body: Buffer | null | undefined): boolean {
  if (body === null || body === undefined) return false;
  try {
    const value = JSON.parse(body.toString("utf8")) as Keyed & { entries?: readonly Keyed[] };
    return [value, ...(value.entries ?? [])].some(
      ({ externalId }) => (externalId ?? null) !== null,
    );
  } catch {
    return false;
  }
}

interface Keyed {
  readonly externalId?: unknown;
}

function pathOf(request: FastifyRequest): string {
  return pathOfTarget(request.raw.url ?? "");
}

function pathOfTarget(target: string): string {
  // A target in absolute form (RFC 9112, section 3.2.2) is routed by its path alone.
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const question = origin.indexOf("?");
  return question < 0 ? origin : origin.slice(0, question);
}

const brokenRequestStatuses: Readonly<Record<string, [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

function answerHostless(request: FastifyRequest, reply: FastifyReply) {
  const problem = { status: 400, title: "Bad Request", detail: "a request has to name its Host" };
  const { type, body } = unreadableReply({ id: request.id, path: pathOf(request) }, problem);
  return reply.code(problem.status).type(type).send(body);
}

/** Bytes that are no HTTP request: there is no route and no reply object, only the socket. */
function answerBrokenRequest(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const [status, title] = brokenRequestStatuses[error.code ?? ""] ?? [400, "Bad Request"];
  giveUp(socket, () => {
    const request = { id: newId(), path: pathOfTarget(targetIn(error.rawPacket)) };
    const detail = "the request could not be read as HTTP";
    const { type, body } = unreadableReply(request, { status, title, detail });
    return (
      `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${type}\r\n` +
      `X-Request-Id: ${request.id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`
    );
  });
}

/** The target in the bytes that came last, where they begin with a request line: the answer's shape hangs on it. */
function targetIn(packet: unknown): string {
  const start = packet instanceof Buffer ? packet.toString("latin1", 0, headerBytesMax) : "";
  return /^[A-Z]+ (\S+)/.exec(start)?.[1] ?? "";
}

/** RFC 9110, section 10.1.1: an expectation other than 100-continue can't be met. */
function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const id = newId();
  const { type, body } = unreadableReply(
    { id, path: pathOfTarget(request.url ?? "") },
    {
      status: 417,
      title: "Expectation Failed",
      detail: "no expectation but 100-continue can be met",
    },
  );
  response
    .writeHead(417, {
      "content-type": type,
      "content-length": Buffer.byteLength(body),
      "x-request-id": id,
    })
    .end(body);
}

async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  const cut = setTimeout(() => {
    app.server.closeAllConnections();
  }, graceMs);
  // Connections that fall idle while others finish would otherwise be waited for.
  const sweep = setInterval(() => {
    app.server.closeIdleConnections();
  }, 50);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

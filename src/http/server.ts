// The HTTP server, put together: its limits, what happens to every request, and how it stops. Routes are in
// api-routes.ts and own-routes.ts, connections in connections.ts, what is too much in admission.ts.
import { lookup } from "node:dns/promises";
import { METHODS } from "node:http";
import { fastify, type FastifyInstance } from "fastify";
import { Refusal } from "../core/errors.ts";
import { newId } from "../engine/new-id.ts";
import type { JournalHub } from "../engine/journal-hub.ts";
import type { WalletHub } from "../engine/wallet-hub.ts";
import type { Log } from "../log.ts";
import { isOverLimit, limitConnections } from "./admission.ts";
import { answerRefusal } from "./answer-refusal.ts";
import { addApiRoutes } from "./api-routes.ts";
import {
  answerBrokenRequest,
  answerExpectation,
  answerHeaderFault,
  headerBytesMax,
  headerFault,
  requestTimeoutMs,
} from "./broken-requests.ts";
import { Connections, watchProgress } from "./connections.ts";
import { isCancelled, isLast } from "./exchanges.ts";
import type { HttpCounts } from "./http-counts.ts";
import { addOwnRoutes, type OwnRoutesOptions } from "./own-routes.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { PacedRejections } from "./paced-rejections.ts";
import { logAnswersTo, type LogAnswer } from "./request-log.ts";
import { newNotes, pathOf } from "./request-notes.ts";
import type { Dispatcher } from "./route-dispatch.ts";
import { serveStreams } from "./streams/serve-streams.ts";
import { TlsHandshakes, type Certificate } from "./tls.ts";

export interface HttpServerOptions extends OwnRoutesOptions {
  readonly dispatcher: Dispatcher;
  readonly walletHub: WalletHub;
  readonly journalHub: JournalHub;
  readonly log: Log;
  readonly connectionsMax: number;
  readonly counts: HttpCounts;
  /** What TLS shows; null for plain HTTP. */
  readonly certificate: Certificate | null;
}

export interface HttpServer {
  /** Binds the first address of the host and resolves with the URL; port 0 takes a free one. */
  listen(host: string, port: number): Promise<string>;
  /** Shows another certificate on new connections, where it shows one at all. */
  useCertificate(certificate: Certificate): void;
  /**
   * Takes no new connections. Answers for a moment what comes on open ones, each time with `Connection: close`; then
   * starts one more request a connection at the most. Resolves when every request that was started has its answer, or
   * when the grace period is over and what was left is cut.
   */
  close(graceMs: number): Promise<void>;
}

const idleTimeoutMs = 75_000;
/** How long a stopping server still answers whatever comes on connections that were open. */
const drainMsMax = 1_000;

const overloadRejectionsPerSecond = 2_000;
/** Fewer: whoever goes on over the limit of a key is to cost others nothing that they notice. */
const rateLimitedPerSecond = 500;

/** Puts the server together; it is not bound before `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const app = createApp();
  const tls = options.certificate === null ? null : new TlsHandshakes(options.certificate);
  const connections = new Connections(app.server, tls);
  limitConnections(app.server, options.connectionsMax, options.counts);
  app.server.on("checkExpectation", answerExpectation);
  app.decorateRequest("notes", null);
  const state = { isStopping: false };
  const logAnswer = logAnswersTo(options.log);
  addHooks(app, options.counts, logAnswer, state);
  const rejections = {
    overload: new PacedRejections(overloadRejectionsPerSecond),
    rateLimited: new PacedRejections(rateLimitedPerSecond),
  };
  addApiRoutes(app, options, rejections);
  addOwnRoutes(app, options);
  app.setNotFoundHandler((request, reply) => {
    answerRefusal(new Refusal("unknownPath", "there is nothing here"), request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    answerRefusal(error, request, reply);
  });
  const streams = serveStreams(app.server, { ...options, logAnswer });
  return {
    listen: async (host, port) => {
      // For each further address of `localhost` Fastify would open another server, with none of the limits above.
      const { address } = await lookup(host);
      const url = await app.listen({ host: address, port });
      return tls === null ? url : url.replace(/^http:/, "https:");
    },
    useCertificate: (certificate) => {
      tls?.useCertificate(certificate);
    },
    close: async (graceMs) => {
      // First: who is told that its connection ends makes a new one, and one that is not accepted yet would be reset.
      connections.refuseNew();
      state.isStopping = true;
      for (const paced of Object.values(rejections)) paced.end();
      streams.close(graceMs);
      const drainMs = Math.min(drainMsMax, graceMs / 2);
      await connections.whenNone(drainMs);
      await connections.finish(graceMs - drainMs);
      // Last: from here on Fastify would end a connection with any answer, whatever has come after it.
      await app.close();
    },
  };
}

function createApp(): FastifyInstance {
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
      IncomingMessage: IncomingRequest,
      maxHeaderSize: headerBytesMax,
      headersTimeout: requestTimeoutMs,
      // A header that may be sent once only is no valid value when it is sent twice, Authorization above all.
      joinDuplicateHeaders: true,
      // Refused by a hook instead, so that this answer too has its problem and request id.
      requireHostHeader: false,
    },
    // A path may be as long as the header limit lets it be.
    routerOptions: { maxParamLength: headerBytesMax, querystringParser: () => ({}) },
    // Routes have no schemas of Fastify's: what compiles those need not be loaded.
    schemaController: {
      compilersFactory: { buildValidator: neverCompile, buildSerializer: neverCompile },
    },
    clientErrorHandler: answerBrokenRequest,
  });
  // The signature covers the bytes of the body, so the handlers of the API take them as they come, whatever they claim
  // to be; nobody else wants one.
  for (const method of METHODS) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  return app;
}

function neverCompile(): never {
  throw new Error("no route has a schema to compile");
}

/** Without promises: these run for every request. What they throw is answered by the error handler. */
function addHooks(
  app: FastifyInstance,
  counts: HttpCounts,
  logAnswer: LogAnswer,
  state: { isStopping: boolean },
): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (isCancelled(reply.raw)) {
      reply.hijack();
      return;
    }
    request.notes = newNotes();
    reply.header("x-request-id", request.id);
    const fault = headerFault(request.raw);
    if (fault !== null) {
      answerHeaderFault(request, reply, fault);
      return;
    }
    // An unknown path is refused before the body is read.
    if (request.is404) throw new Refusal("unknownPath", "there is nothing here");
    done();
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    const { socket } = request.raw;
    watchProgress(socket);
    const mayEnd = state.isStopping || isOverLimit(socket);
    if (isLast(reply.raw, mayEnd)) reply.header("connection", "close");
    const bucket = request.notes?.bucket;
    if (bucket !== undefined) reply.headers(bucket.headers());
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { caller, refusal, route } = request.notes ?? {};
    // One that broke off did not have the status that it began with.
    const isWhole = reply.raw.writableFinished || refusal === undefined;
    const status = isWhole ? reply.statusCode : refusal.status;
    counts.countAnswer(route ?? "none", status, refusal);
    logAnswer(status, refusal, () => ({
      requestId: request.id,
      method: request.method,
      path: pathOf(request),
      durationMs: reply.elapsedTime,
      remoteAddress: request.ip,
      caller,
    }));
    done();
  });
}

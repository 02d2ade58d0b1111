// Streams of wallets over WebSocket (RFC 6455): who may have one, what is sent, and what happens to a
// reader that can't keep up. What is told, and in which order, is the stream hub's.
import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { assert, Refusal, validationRefusal } from "../core/errors.ts";
import { routes, type RouteQuery } from "../contract/routes.ts";
import { newId } from "../engine/new-id.ts";
import type { BalanceEvent, StreamHub, Subscription } from "../engine/stream-hub.ts";
import type { Log } from "../log.ts";
import type { Caller } from "./authenticate.ts";
import { afterAnswers } from "./exchanges.ts";
import type { HttpCounts } from "./http-counts.ts";
import { requireCallerKey, resolveLedger } from "./path-parameters.ts";
import { asRefusal, problemReply } from "./problems.ts";
import { logAnswer } from "./request-log.ts";
import { authenticateRequest, readQuery, type Dispatcher } from "./route-dispatch.ts";

const messageBytesMax = 4 * 1024;
const pingIntervalMs = 30_000;
// Keys are cached for 4 s, and a revocation has to take hold within 5.
const keyCheckIntervalMs = 500;
/** Unsent bytes from which a plain reader gets only the latest figures. */
const conflateBytes = 64 * 1024;
/** Unsent bytes at which a reader that must not miss anything is given up. */
const unsentBytesMax = 1024 * 1024;
const slowMsMax = 10_000;
/** Live events that wait for the end of a replay; further ones are replayed from the log. */
const earlyMax = 1_000;
const drainCheckIntervalMs = 50;

const closeCodes = { goingAway: 1001, policy: 1008, tryAgainLater: 1013 } as const;

/** What streams are made of: who may have one, what is told, and where refusals are noted. */
export interface StreamServices {
  readonly dispatcher: Dispatcher;
  readonly hub: StreamHub;
  readonly log: Log;
  readonly counts: HttpCounts;
}

/** An upgrade that is asked for: its id, when it came by `performance.now()`, and who sent it once that is known. */
interface Arrival {
  readonly requestId: string;
  readonly atMs: number;
  caller?: Caller;
}

export interface WalletStreams {
  /** Closes every stream with 1001; those whose readers do not answer by then are cut. */
  close(graceMs: number): void;
}

/** Answers upgrades on a server's wallet streams. Other upgrades are answered as the requests that they are. */
export function serveWalletStreams(server: Server, services: StreamServices): WalletStreams {
  const { log, counts } = services;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax });
  counts.streams = () => sockets.clients.size;
  const arrivals = new WeakMap<IncomingMessage, Arrival>();
  const arrivalOf = (request: IncomingMessage): Arrival => {
    const arrival: Arrival = arrivals.get(request) ?? {
      requestId: newId(),
      atMs: performance.now(),
    };
    arrivals.set(request, arrival);
    return arrival;
  };
  const refuse = (request: IncomingMessage, socket: Duplex, refusal: Refusal): void => {
    refuseUpgrade(request, socket, refusal, arrivalOf(request).requestId);
    counts.countAnswer("streamWallet", refusal.status);
    logUpgrade(log, request, arrivalOf(request), refusal);
  };
  const behind = new BehindReaders();
  sockets.on("wsClientError", (error: Error, socket: Duplex, request: IncomingMessage) => {
    refuse(request, socket, validationRefusal([{ path: [], detail: error.message }]));
  });
  sockets.on("headers", (lines: string[], request: IncomingMessage) => {
    lines.push(`X-Request-Id: ${arrivalOf(request).requestId}`);
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const walletKey = isWebSocket(request) ? matchStream(request.url ?? "") : null;
    if (walletKey === null) {
      answerWithoutUpgrade(server, request, socket, head);
      return;
    }
    socket.on("error", () => {
      socket.destroy();
    });
    const arrival = arrivalOf(request);
    const onCaller = (caller: Caller) => (arrival.caller = caller);
    void openStream(request, walletKey, services, behind, onCaller)
      .then((stream) => {
        sockets.handleUpgrade(request, socket, head, (webSocket) => {
          stream.attach(webSocket);
          counts.countAnswer("streamWallet", 101);
          logUpgrade(log, request, arrival, undefined);
        });
        // The handshake was refused, or the client went meanwhile.
        if (!stream.isAttached) stream.end();
      })
      .catch((error: unknown) => {
        refuse(request, socket, asRefusal(error));
      });
  };
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    afterAnswers(server, socket, () => {
      upgrade(request, socket, head);
    });
  });
  return {
    close: (graceMs) => {
      for (const client of sockets.clients)
        client.close(closeCodes.goingAway, "the server is stopping");
      sockets.close();
      setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, graceMs).unref();
    },
  };
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && /^websocket$/i.test(headers.upgrade ?? "");
}

/**
 * A server may leave an upgrade that is offered (RFC 9110, section 7.8). Node gives up the connection of
 * any request that offers one, so it is given back, with the request as it was but for the offer.
 */
function answerWithoutUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method ?? ""} ${url ?? ""} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const options = value.split(",").filter((option) => !/^\s*upgrade\s*$/i.test(option));
    const kept = /^connection$/i.test(name) ? options.join(",") : value;
    if (!/^upgrade$/i.test(name)) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

async function openStream(
  request: IncomingMessage,
  walletKey: string,
  { dispatcher, hub, counts }: StreamServices,
  behind: BehindReaders,
  onCaller: (caller: Caller) => void,
): Promise<Stream> {
  const target = request.url ?? "";
  const method = request.method ?? "";
  const credentials = { method, target, headers: request.headers, body: null };
  const caller = await authenticateRequest(dispatcher.authenticator, credentials);
  onCaller(caller);
  const { ledger, callerKey } = await resolveLedger(dispatcher.ledgers, caller, { walletKey });
  if (!caller.scopes.includes(routes.streamWallet.scope)) {
    throw new Refusal(
      "insufficientScope",
      `the API key lacks the scope ${routes.streamWallet.scope}`,
    );
  }
  requireCallerKey(callerKey ?? "");
  assert(ledger !== null && callerKey !== null, "a key that passed names a wallet of a ledger");
  const query = readQuery(routes.streamWallet, target) as RouteQuery<"streamWallet">;
  const isLive = () => dispatcher.authenticator.isLive(caller.apiKey);
  const stream = new Stream(
    hub,
    behind,
    counts,
    { ledgerId: ledger.ledgerId, callerKey },
    query.since,
    isLive,
  );
  // Before the upgrade is answered: what is accepted once the client knows of it must reach it.
  await stream.subscribe();
  return stream;
}

const streamPath = /^\/v1\/wallets\/([^/?]+)\/ws(?:\?|$)/;

function matchStream(target: string): string | null {
  const raw = streamPath.exec(target)?.[1];
  try {
    return raw === undefined ? null : decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function logUpgrade(
  log: Log,
  request: IncomingMessage,
  { requestId, atMs, caller }: Arrival,
  refusal: Refusal | undefined,
): void {
  logAnswer(log, refusal?.status ?? 101, refusal, () => ({
    requestId,
    method: request.method ?? "",
    path: (request.url ?? "").replace(/\?.*$/s, ""),
    durationMs: performance.now() - atMs,
    remoteAddress: request.socket.remoteAddress,
    caller,
  }));
}

function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  refusal: Refusal,
  id: string,
): void {
  const path = request.url ?? "";
  const { status, headers, body } = problemReply(refusal, { id, path, hasExternalId: false });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(refusal.problem === "validation" ? ["sec-websocket-version: 13"] : []),
    `x-request-id: ${id}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Plain readers that fell behind, looked after by one timer that runs only while there are any. */
class BehindReaders {
  readonly #streams = new Set<Stream>();
  #timer: NodeJS.Timeout | null = null;

  add(stream: Stream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => {
      for (const each of this.#streams) each.drain();
    }, drainCheckIntervalMs);
  }

  delete(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** One reader of one wallet. */
class Stream {
  readonly #hub: StreamHub;
  readonly #behind: BehindReaders;
  readonly #counts: HttpCounts;
  readonly #wallet: { ledgerId: string; callerKey: string };
  readonly #since: number | null;
  readonly #isLive: () => Promise<boolean>;
  #subscription: Subscription | null = null;
  #socket: WebSocket | null = null;
  /** Events that came before the socket, or while the log is replayed. */
  #early: BalanceEvent[] | null = [];
  /** The seq up to which the log is replayed to a returning reader. */
  #replayTo = 0;
  #conflated: BalanceEvent | null = null;
  #slowSinceMs: number | null = null;

  constructor(
    hub: StreamHub,
    behind: BehindReaders,
    counts: HttpCounts,
    wallet: { ledgerId: string; callerKey: string },
    since: number | null,
    isLive: () => Promise<boolean>,
  ) {
    this.#hub = hub;
    this.#behind = behind;
    this.#counts = counts;
    this.#wallet = wallet;
    this.#since = since;
    this.#isLive = isLive;
  }

  async subscribe(): Promise<void> {
    const { ledgerId, callerKey } = this.#wallet;
    this.#subscription = await this.#hub.subscribe(ledgerId, callerKey, (event) => {
      if (this.#early === null) this.#deliver(event);
      else this.#keepEarly(event, this.#early);
    });
    this.#replayTo = Math.max(this.#replayTo, this.#subscription.fromSeq);
  }

  /** A reader that is slow to take its replay must not pile up what comes meanwhile: the log has it. */
  #keepEarly(event: BalanceEvent, early: BalanceEvent[]): void {
    early.push(event);
    if (this.#since === null || early.length <= earlyMax) return;
    this.#replayTo = event.seq;
    // Postings are in no log; that there were some is told behind the writes, with the latest figures.
    this.#early = early.some(({ isPosting }) => isPosting) ? [{ ...event, isPosting: true }] : [];
  }

  get isAttached(): boolean {
    return this.#socket !== null;
  }

  end(): void {
    this.#subscription?.end();
  }

  attach(socket: WebSocket): void {
    this.#socket = socket;
    const timers = [
      setInterval(heartbeat(socket), pingIntervalMs),
      setInterval(() => {
        void this.#closeWhenRevoked();
      }, keyCheckIntervalMs),
    ];
    socket.on("error", () => undefined);
    socket.on("close", () => {
      for (const timer of timers) clearInterval(timer);
      this.#keepNothing();
      this.end();
    });
    void this.#begin().catch(() => {
      socket.close(closeCodes.tryAgainLater, "the log can't be read at the moment");
    });
  }

  /** Replays what a returning reader missed, then lets through what came meanwhile. */
  async #begin(): Promise<void> {
    const { ledgerId, callerKey } = this.#wallet;
    for (let seq = this.#since ?? this.#replayTo; seq < this.#replayTo;) {
      const { events, reachedSeq } = await this.#hub.readSince(ledgerId, callerKey, seq);
      if (reachedSeq === seq || this.#socket?.readyState !== this.#socket?.OPEN) break;
      for (const event of events) if (event.seq <= this.#replayTo) await this.#replay(event);
      seq = reachedSeq;
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const event of early) this.#deliver(event);
  }

  /** A replay waits for its reader; only what happens live has to keep up. */
  async #replay(event: BalanceEvent): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket?.send(this.#message(event), () => {
        resolve();
      });
    });
  }

  #deliver(event: BalanceEvent): void {
    const socket = this.#socket;
    if (socket?.readyState !== socket?.OPEN || socket === null) return;
    // The reader had the write with this seq; that it is posted is news.
    const newsFromSeq = event.isPosting ? event.seq + 1 : event.seq;
    if (this.#since !== null && this.#since >= newsFromSeq) return;
    if (socket.bufferedAmount < (this.#since === null ? conflateBytes : unsentBytesMax)) {
      socket.send(this.#message(event));
      // Newer than what was kept back.
      this.#keepNothing();
    } else if (this.#since === null) {
      this.#conflated = event;
      this.#slowSinceMs ??= Date.now();
      this.#behind.add(this);
    } else {
      this.#giveUp(socket);
    }
  }

  #giveUp(socket: WebSocket): void {
    this.#counts.slowReaders += 1;
    socket.close(closeCodes.tryAgainLater, "the reader can't keep up");
  }

  /** A plain reader that fell behind gets the latest figures when it has caught up, or is let go. */
  drain(): void {
    const socket = this.#socket;
    if (socket === null || this.#conflated === null) return;
    if (socket.bufferedAmount < conflateBytes) {
      socket.send(this.#message(this.#conflated));
      this.#keepNothing();
    } else if (Date.now() - (this.#slowSinceMs ?? 0) > slowMsMax) {
      this.#keepNothing();
      // Behind what is unsent already; a reader that takes none of it is cut after a while.
      this.#giveUp(socket);
    }
  }

  #keepNothing(): void {
    this.#conflated = null;
    this.#slowSinceMs = null;
    this.#behind.delete(this);
  }

  #message({ balance, available, seq }: BalanceEvent): string {
    this.#counts.streamMessages += 1;
    const figures = `"balance":"${balance}","available":"${available}"`;
    return `{"type":"balance",${figures}${this.#since === null ? "" : `,"seq":${seq}`}}`;
  }

  async #closeWhenRevoked(): Promise<void> {
    // A database that can't be asked has not revoked anything.
    const isLive = await this.#isLive().catch(() => true);
    if (!isLive) this.#socket?.close(closeCodes.policy, "the API key is no longer valid");
  }
}

/** Pings, and ends a connection that did not answer the ping before. */
function heartbeat(socket: WebSocket): () => void {
  let isAnswered = true;
  socket.on("pong", () => {
    isAnswered = true;
  });
  return () => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
  };
}

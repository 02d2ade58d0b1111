// Reading a stream: reconnects by itself, each time from the last message it had, so that nothing is missed and nothing
// comes twice. What is streamed, wallet-stream.ts and entry-stream.ts know.
import { on, once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { certificateFault } from "../core/certificate-fault.ts";
import { ServiceProblem, ServiceUnreachable } from "./errors.ts";
import { parseSeconds, problemOf, type SignedHttp } from "./signed-http.ts";

/** Where a stream begins, and who is notified of its connection. */
export interface StreamOptions {
  /** Replays what follows this place first; without it the stream begins with what comes next. */
  readonly since?: number;
  /** Is called when the connection is lost, and when there is one (again). */
  readonly onConnection?: (state: "connected" | "lost") => void;
}

/** The log that a stream is the end of: what is in it has places, 1, 2, 3 …, in the order in which it came. */
export interface StreamedLog<Item> {
  /** Of the stream. */
  readonly target: string;
  /** An item from the text of a message, and its place. `after`: that of the message before, or where the stream began. */
  read(text: string, after: number): { readonly item: Item; readonly place: number };
  /** The request whose reply tells whether the log has anything after a place. */
  probe(place: number): string;
  /** What that reply tells. */
  hasItems(text: string): boolean;
}

const reconnectMsMin = 100;
const reconnectMsMax = 5_000;
/** The server pings every 30 s; a connection that is silent for longer is dead. */
const silenceMsMax = 75_000;
/** Messages that wait for their reader; with more of them the socket is paused. */
const waitingMax = 1_000;
/** How long the server may take to answer a close. */
const closeMsMax = 1_000;

/**
 * What comes at the end of one log, for one reader. After a lost connection it connects again, for as long as it takes, from
 * the last message that it had: none is missed, and none comes twice. If a failover of the database took back what
 * was read, it goes on from where the log ends then, at a lower place.
 */
export class LiveStream<Item> {
  readonly #http: SignedHttp;
  readonly #log: StreamedLog<Item>;
  readonly #options: StreamOptions;
  readonly #closing = new AbortController();
  #socket: WebSocket | null = null;
  #lastPlace: number | null;
  #delayMs = reconnectMsMin;
  #hasConnected = false;
  #hasRead = false;

  constructor(http: SignedHttp, log: StreamedLog<Item>, options: StreamOptions) {
    this.#http = http;
    this.#log = log;
    this.#options = options;
    this.#lastPlace = options.since ?? null;
  }

  /**
   * Connects, and yields what comes in order until the stream is closed. Throws ServiceProblem when the
   * service refuses the stream with 400, 401, 403 or 404, and ServiceUnreachable when its certificate is not accepted
   * from the beginning. For a slow reader about a thousand messages are kept; then
   * the server waits, too.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    const { signal } = this.#closing;
    const closed = rejectOnAbort(signal);
    closed.catch(() => undefined);
    try {
      while (!this.#isClosed()) {
        let retryAfterMs = 0;
        const messages = await this.#connect(closed).catch((error: unknown) => {
          // A certificate that was accepted before may be renewed.
          if (isFinal(error) || (!this.#hasConnected && isUnaccepted(error))) throw error;
          if (error instanceof ServiceProblem)
            retryAfterMs = 1_000 * (error.retryAfterSeconds ?? 0);
          return null;
        });
        if (messages !== null) yield* this.#read(messages);
        if (this.#isClosed()) return;
        this.#options.onConnection?.("lost");
        const pauseMs = retryAfterMs + this.#delayMs * (0.5 + Math.random() / 2);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
        this.#delayMs = Math.min(reconnectMsMax, this.#delayMs * 2);
      }
    } finally {
      this.close();
    }
  }

  /** Ends the reading, and closes the connection; within a second also where the server does not answer. */
  close(): void {
    if (this.#isClosed()) return;
    this.#closing.abort();
    const socket = this.#socket;
    if (socket === null || socket.readyState === socket.CLOSED) return;
    if (socket.isPaused) socket.resume();
    socket.close();
    const cut = setTimeout(() => {
      socket.terminate();
    }, closeMsMax);
    socket.once("close", () => {
      clearTimeout(cut);
    });
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Resolves with the messages of a new connection. Rejects when there is none, when the upgrade was refused, and as
   * `closed` does.
   */
  async #connect(closed: Promise<never>): Promise<AsyncIterable<[Buffer]>> {
    const { signal } = this.#closing;
    // Only here, so that a program that reads no stream does not load what streams need.
    const ws = await import("ws");
    this.#lastPlace = await Promise.race([this.#startPlace(), closed]);
    signal.throwIfAborted();
    const { url, headers } = this.#http.upgrade(`${this.#log.target}?since=${this.#lastPlace}`);
    const socket = new ws.WebSocket(url, { headers, handshakeTimeout: 10_000 });
    this.#socket = socket;
    // Of several errors of a connection the first one counts.
    socket.on("error", () => undefined);
    // From the start: the first messages may come with the answer to the upgrade.
    const messages = on(socket, "message", {
      signal,
      close: ["close"],
      highWaterMark: waitingMax,
      lowWaterMark: waitingMax / 2,
    }) as AsyncIterable<[Buffer]>;
    await opened(socket).catch((error: unknown) => {
      throw error instanceof ServiceProblem ? error : new ServiceUnreachable(url, error);
    });
    endWhenSilent(socket);
    return messages;
  }

  /** The messages of one connection, until it is lost. */
  async *#read(messages: AsyncIterable<[Buffer]>): AsyncGenerator<Item> {
    this.#delayMs = reconnectMsMin;
    this.#hasConnected = true;
    this.#options.onConnection?.("connected");
    for await (const [data] of untilLost(messages)) {
      const { item, place } = this.#log.read(data.toString(), this.#lastPlace ?? 0);
      this.#lastPlace = place;
      this.#hasRead = true;
      yield item;
    }
  }

  /**
   * The place to go on after. A failover without a synchronous standby may have taken back what was read: then it is where
   * the log ends now, since what comes next has a place that was read before.
   */
  async #startPlace(): Promise<number> {
    if (this.#lastPlace === null) return this.#currentPlace();
    const isThere =
      !this.#hasRead || this.#lastPlace === 0 || (await this.#hasItemAfter(this.#lastPlace - 1));
    return isThere ? this.#lastPlace : this.#currentPlace();
  }

  /**
   * Where the log ends now: a stream without `since` begins there, however often it
   * reconnects. Found by bisection: the log is paged from its beginning only, and may be long.
   */
  async #currentPlace(): Promise<number> {
    let below = 0;
    let above = 1;
    while (await this.#hasItemAfter(above - 1)) {
      below = above;
      above *= 2;
    }
    while (above - below > 1) {
      const middle = Math.floor((below + above) / 2);
      if (await this.#hasItemAfter(middle - 1)) below = middle;
      else above = middle;
    }
    return below;
  }

  async #hasItemAfter(place: number): Promise<boolean> {
    const request = { method: "GET", target: this.#log.probe(place) };
    // Once it has connected, the stream itself tries again, and tells of that.
    const reply = this.#hasConnected
      ? await this.#http.sendOnce(request)
      : (await this.#http.send(request)).reply;
    if (reply.status >= 300) throw problemOf(reply, false);
    return this.#log.hasItems(reply.text);
  }
}

/** Resolves when a connection is open; rejects when there is none, or the upgrade was refused. */
async function opened(socket: WebSocket): Promise<void> {
  const [, response] = (await Promise.race([
    once(socket, "open"),
    once(socket, "unexpected-response"),
  ])) as [ClientRequest?, IncomingMessage?];
  if (response === undefined) return;
  const { statusCode: status = 0, headers } = response;
  const reply = {
    status,
    requestId: null,
    retryAfterSeconds: parseSeconds(headers["retry-after"] ?? null),
    text: await text(response),
  };
  socket.terminate();
  throw problemOf(reply, false);
}

/** Ends a connection on which nothing has come for too long. */
function endWhenSilent(socket: WebSocket): void {
  const silence = setTimeout(() => {
    // What waits in a paused socket is not read; it is the reader who is silent.
    if (socket.isPaused) silence.refresh();
    else socket.terminate();
  }, silenceMsMax);
  for (const event of ["ping", "message"]) socket.on(event, () => silence.refresh());
  socket.once("close", () => {
    clearTimeout(silence);
  });
}

/** What comes on a connection. One that breaks has ended, too. */
async function* untilLost<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch {
    return;
  }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await once(signal, "abort");
  throw new Error("the stream is closed");
}

/** Whether a connection failed because of the service's certificate. */
function isUnaccepted(error: unknown): boolean {
  return error instanceof ServiceUnreachable && certificateFault(error.cause) !== null;
}

/** A refusal that trying again does not change. */
function isFinal(error: unknown): error is ServiceProblem {
  return error instanceof ServiceProblem && [400, 401, 403, 404].includes(error.status);
}

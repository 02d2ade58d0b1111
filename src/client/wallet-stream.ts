// Reading the stream of a wallet: reconnects by itself, each time from the last message it had, so
// that nothing is missed and nothing comes twice.
import { on, once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { certificateFault } from "../core/certificate-fault.ts";
import type { BalanceMessage } from "../contract/types.ts";
import { ServiceProblem, ServiceUnreachable } from "./errors.ts";
import { parseSeconds, problemOf, type SignedHttp } from "./signed-http.ts";

/** Where a stream begins, and who is notified of its connection. */
export interface WalletStreamOptions {
  /** Replays what follows this seq first; without it the stream begins with the next write. */
  readonly since?: number;
  /** Is called when the connection is lost, and when there is one (again). */
  readonly onConnection?: (state: "connected" | "lost") => void;
}

/** What a wallet has come to with the write that has this seq; amounts in smallest units. */
export type WalletMessage = Required<BalanceMessage>;

const reconnectMsMin = 100;
const reconnectMsMax = 5_000;
/** The server pings every 30 s; a connection that is silent for longer is dead. */
const silenceMsMax = 75_000;
/** Messages that wait for their reader; with more of them the socket is paused. */
const waitingMax = 1_000;
/** How long the server may take to answer a close. */
const closeMsMax = 1_000;

/**
 * The messages of one wallet, for one reader. After a lost connection it connects again, for as long as it takes, from
 * the last message that it had: none is missed, and none comes twice. If a failover of the database took back what
 * was read, it goes on from where the wallet's log ends then, with a lower seq.
 */
export class WalletStream {
  readonly #http: SignedHttp;
  readonly #target: string;
  readonly #options: WalletStreamOptions;
  readonly #closing = new AbortController();
  #socket: WebSocket | null = null;
  #lastSeq: number | null;
  #delayMs = reconnectMsMin;
  #hasConnected = false;
  #hasRead = false;

  constructor(http: SignedHttp, target: string, options: WalletStreamOptions) {
    this.#http = http;
    this.#target = target;
    this.#options = options;
    this.#lastSeq = options.since ?? null;
  }

  /**
   * Connects, and yields messages in the order of their seq until the stream is closed. Throws ServiceProblem when the
   * service refuses the stream with 400, 401, 403 or 404, and ServiceUnreachable when its certificate is not accepted
   * from the beginning. For a slow reader about a thousand messages are kept; then
   * the server waits, too.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<WalletMessage> {
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
    this.#lastSeq = await Promise.race([this.#startSeq(), closed]);
    signal.throwIfAborted();
    const { url, headers } = this.#http.upgrade(`${this.#target}?since=${this.#lastSeq}`);
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
  async *#read(messages: AsyncIterable<[Buffer]>): AsyncGenerator<WalletMessage> {
    this.#delayMs = reconnectMsMin;
    this.#hasConnected = true;
    this.#options.onConnection?.("connected");
    for await (const [data] of untilLost(messages)) {
      const message = JSON.parse(data.toString()) as WalletMessage;
      this.#lastSeq = message.seq;
      this.#hasRead = true;
      yield message;
    }
  }

  /**
   * The seq to go on after. A failover without a synchronous standby may have taken back what was read: then it is where
   * the log ends now, since what comes next has a seq that was read before.
   */
  async #startSeq(): Promise<number> {
    if (this.#lastSeq === null) return this.#currentSeq();
    const isThere =
      !this.#hasRead || this.#lastSeq === 0 || (await this.#hasWriteAfter(this.#lastSeq - 1));
    return isThere ? this.#lastSeq : this.#currentSeq();
  }

  /**
   * Where the wallet's log ends now: a stream without `since` begins there, however often it
   * reconnects. Found by bisection: the log is paged from its beginning only, and may be long.
   */
  async #currentSeq(): Promise<number> {
    let below = 0;
    let above = 1;
    while (await this.#hasWriteAfter(above - 1)) {
      below = above;
      above *= 2;
    }
    while (above - below > 1) {
      const middle = Math.floor((below + above) / 2);
      if (await this.#hasWriteAfter(middle - 1)) below = middle;
      else above = middle;
    }
    return below;
  }

  async #hasWriteAfter(seq: number): Promise<boolean> {
    const target = `${this.#target.replace(/\/ws$/, "/history")}?limit=1&after=${seq}`;
    const request = { method: "GET", target };
    // Once it has connected, the stream itself tries again, and tells of that.
    const reply = this.#hasConnected
      ? await this.#http.sendOnce(request)
      : (await this.#http.send(request)).reply;
    if (reply.status >= 300) throw problemOf(reply, false);
    return (JSON.parse(reply.text) as { writes: unknown[] }).writes.length > 0;
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

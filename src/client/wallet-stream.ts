// Reading the stream of a wallet: reconnects by itself, each time from the last message it had, so
// that nothing is missed and nothing comes twice.
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { BalanceMessage } from "../contract/types.ts";
import { ServiceProblem } from "./errors.ts";
import { problemOf, type SignedHttp } from "./signed-http.ts";

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
 * the last message that it had: none is missed, and none comes twice.
 */
export class WalletStream {
  readonly #http: SignedHttp;
  readonly #target: string;
  readonly #options: WalletStreamOptions;
  readonly #waiting: WalletMessage[] = [];
  #wake: (() => void) | null = null;
  #resume: (() => void) | null = null;
  /** Ends the pause before a reconnection. */
  readonly #ending = new AbortController();
  #socket: WebSocket | null = null;
  #isClosed = false;
  #failure: Error | null = null;
  #lastSeq: number | null;

  constructor(http: SignedHttp, target: string, options: WalletStreamOptions) {
    this.#http = http;
    this.#target = target;
    this.#options = options;
    this.#lastSeq = options.since ?? null;
  }

  /**
   * Connects, and yields messages in the order of their seq until the stream is closed. Throws ServiceProblem when the
   * service refuses the stream with 400, 401, 403 or 404. For a slow reader about a thousand messages are kept; then
   * the server waits, too.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<WalletMessage> {
    void this.#stayConnected();
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (this.#waiting.length < waitingMax / 2) this.#resumeReading();
        if (message !== undefined) yield message;
        else if (this.#failure !== null) throw this.#failure;
        else if (this.#isClosed) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  /** Ends the reading, and closes the connection; within a second also where the server does not answer. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ending.abort();
    this.#wake?.();
    this.#resumeReading();
    const socket = this.#socket;
    if (socket === null || socket.readyState === socket.CLOSED) return;
    socket.close();
    const cut = setTimeout(() => {
      socket.terminate();
    }, closeMsMax);
    socket.once("close", () => {
      clearTimeout(cut);
    });
  }

  #resumeReading(): void {
    if (this.#socket?.isPaused === true) this.#socket.resume();
    this.#resume?.();
    this.#resume = null;
  }

  #isOver(): boolean {
    return this.#isClosed;
  }

  async #stayConnected(): Promise<void> {
    let delayMs = reconnectMsMin;
    while (!this.#isOver()) {
      try {
        this.#lastSeq ??= await this.#currentSeq();
        if (this.#isOver()) return;
        await this.#connectOnce(() => (delayMs = reconnectMsMin));
      } catch (error) {
        if (isFinal(error)) {
          this.#failure = error;
          this.#wake?.();
          return;
        }
      }
      if (this.#isOver()) return;
      this.#options.onConnection?.("lost");
      const pauseMs = delayMs * (0.5 + Math.random() / 2);
      await sleep(pauseMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      if (this.#waiting.length >= waitingMax && !this.#isOver())
        await new Promise<void>((resolve) => (this.#resume = resolve));
      delayMs = Math.min(reconnectMsMax, delayMs * 2);
    }
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
    const { reply } = await this.#http.send({ method: "GET", target });
    return (JSON.parse(reply.text) as { writes: unknown[] }).writes.length > 0;
  }

  /** Resolves when the connection is over; rejects when the upgrade was refused. */
  async #connectOnce(onOpen: () => void): Promise<void> {
    const { url, headers } = this.#http.upgrade(`${this.#target}?since=${this.#lastSeq ?? 0}`);
    const socket = new WebSocket(url, { headers, handshakeTimeout: 10_000 });
    this.#socket = socket;
    let silence: NodeJS.Timeout | undefined;
    const onAlive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        // What waits in a paused socket is not read; it is the reader who is silent.
        if (socket.isPaused) onAlive();
        else socket.terminate();
      }, silenceMsMax);
    };
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on("open", () => {
          onAlive();
          onOpen();
          this.#options.onConnection?.("connected");
        });
        socket.on("ping", onAlive);
        socket.on("message", (data: Buffer) => {
          onAlive();
          this.#take(JSON.parse(data.toString()) as WalletMessage);
          if (this.#waiting.length >= waitingMax && !this.#isOver()) socket.pause();
        });
        socket.on("unexpected-response", (_request, response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const status = response.statusCode ?? 0;
            const text = Buffer.concat(chunks).toString();
            reject(problemOf({ status, requestId: null, retryAfterSeconds: null, text }, false));
          });
        });
        socket.on("error", reject);
        socket.on("close", () => {
          resolve();
        });
      });
    } finally {
      clearTimeout(silence);
    }
  }

  #take(message: WalletMessage): void {
    this.#lastSeq = Math.max(this.#lastSeq ?? 0, message.seq);
    this.#waiting.push(message);
    this.#wake?.();
    this.#wake = null;
  }
}

/** A refusal that trying again does not change. */
function isFinal(error: unknown): error is ServiceProblem {
  return error instanceof ServiceProblem && [400, 401, 403, 404].includes(error.status);
}

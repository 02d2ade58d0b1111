// One reader of one wallet: what it missed is replayed from the log, then it gets what happens, in order.
import type { WebSocket } from "ws";
import type { Subscription } from "../../engine/feeds.ts";
import type { BalanceEvent } from "../../engine/wallet-feed.ts";
import type { WalletHub } from "../../engine/wallet-hub.ts";
import type { HttpCounts } from "../http-counts.ts";
import { closeCodes } from "./close-codes.ts";
import { watchStream } from "./heartbeat.ts";
import { bufferedEventsMax } from "./limits.ts";
import {
  createCompleteSender,
  createLatestSender,
  type CompleteSender,
  type SendEvent,
} from "./slow-reader.ts";

/** What a reader asks for. */
interface StreamRequest {
  readonly ledgerId: string;
  readonly callerKey: string;
  /** The seq of the last write that a returning reader has; null for a plain reader. */
  readonly since: number | null;
  /** Whether the API key is still accepted; asked again and again. */
  readonly isApiKeyLive: () => Promise<boolean>;
}

export class WalletStream {
  readonly #hub: WalletHub;
  readonly #counts: HttpCounts;
  readonly #request: StreamRequest;
  #subscription: Subscription | null = null;
  /** Null until the log is replayed; events that come before are buffered. */
  #send: SendEvent | null = null;
  #buffered: BalanceEvent[] = [];
  /** The seq up to which the log is replayed to a returning reader. */
  #replayTo = 0;
  #socket: WebSocket | null = null;
  #isLost = false;

  constructor(hub: WalletHub, counts: HttpCounts, request: StreamRequest) {
    this.#hub = hub;
    this.#counts = counts;
    this.#request = request;
  }

  /** Begins to buffer events; to be called before the upgrade is answered. */
  async subscribe(): Promise<void> {
    const { ledgerId, callerKey } = this.#request;
    const listener = (event: BalanceEvent) => {
      if (this.#send === null) this.#buffer(event);
      else this.#deliver(this.#send, event);
    };
    this.#subscription = await this.#hub.subscribe(ledgerId, callerKey, listener, () => {
      this.#isLost = true;
      this.#closeLost();
    });
    this.#replayTo = Math.max(this.#replayTo, this.#subscription.fromPlace);
  }

  /** A reader that is slow to take its replay must not make events pile up: the log has them. */
  #buffer(event: BalanceEvent): void {
    this.#buffered.push(event);
    if (this.#request.since === null || this.#buffered.length <= bufferedEventsMax) return;
    this.#replayTo = event.seq;
    // Postings are in no log. One of them stays, so that the reader gets the latest figures after the writes.
    const hasPosting = this.#buffered.some(({ isPosting }) => isPosting);
    this.#buffered = hasPosting ? [{ ...event, isPosting: true }] : [];
  }

  end(): void {
    this.#subscription?.end();
  }

  #closeLost(): void {
    this.#socket?.close(closeCodes.serviceRestart, "another host of the database serves now");
  }

  /** Replays and sends to the socket until it is closed. */
  attach(socket: WebSocket): void {
    const { since, isApiKeyLive } = this.#request;
    watchStream(socket, isApiKeyLive);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.end();
    });
    this.#socket = socket;
    // Before it was attached.
    if (this.#isLost) {
      this.#closeLost();
      return;
    }
    if (since === null) {
      this.#goLive(createLatestSender(socket, this.#counts));
      return;
    }
    const sender = createCompleteSender(socket, this.#counts);
    this.#replay(socket, sender, since).then(
      () => {
        this.#goLive(sender.send);
      },
      () => {
        socket.close(closeCodes.tryAgainLater, "the log can't be read at the moment");
      },
    );
  }

  /** A replay waits for its reader; only what happens live has to keep up. */
  async #replay(socket: WebSocket, sender: CompleteSender, since: number): Promise<void> {
    const { ledgerId, callerKey } = this.#request;
    for (let seq = since; seq < this.#replayTo;) {
      const { events, reachedSeq } = await this.#hub.readSince(ledgerId, callerKey, seq);
      if (reachedSeq === seq || socket.readyState !== socket.OPEN) return;
      for (const event of events) {
        if (event.seq <= this.#replayTo) await sender.sendAndWait(event);
      }
      seq = reachedSeq;
    }
  }

  #goLive(send: SendEvent): void {
    this.#send = send;
    for (const event of this.#buffered) this.#deliver(send, event);
    this.#buffered = [];
  }

  #deliver(send: SendEvent, event: BalanceEvent): void {
    const { since } = this.#request;
    // That a write was posted is new also to a reader that has the write.
    if (since === null || event.isPosting || event.seq > since) send(event);
  }
}

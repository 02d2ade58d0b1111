// One reader of one journal: what it missed is replayed, then it gets what is recorded, every entry once and in order. It is
// never given less than all: a reader that can't keep up is closed, and comes back with the sequence that it has.
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Subscription } from "../../engine/feeds.ts";
import type { EntryBatch, JournalHub } from "../../engine/journal-hub.ts";
import type { HttpCounts } from "../http-counts.ts";
import { closeCodes } from "./close-codes.ts";
import { entryFrames } from "./entry-frames.ts";
import { watchStream } from "./heartbeat.ts";
import { bufferedEventsMax, unsentBytesMax } from "./limits.ts";
import { closeSlow } from "./slow-reader.ts";

/** What a reader asks for. */
interface EntryStreamRequest {
  readonly ledgerId: string;
  /** The sequence of the last entry that a returning reader has; null for one that begins with the next. */
  readonly since: number | null;
  /** Whether the API key is still accepted; asked again and again. */
  readonly isApiKeyLive: () => Promise<boolean>;
}

export class EntryStream {
  readonly #hub: JournalHub;
  readonly #counts: HttpCounts;
  readonly #request: EntryStreamRequest;
  #subscription: Subscription | null = null;
  #reader: { readonly socket: WebSocket; readonly connection: Duplex } | null = null;
  /** Of the last entry that was sent, or that the reader has. */
  #lastSequence = 0;
  /** Up to where the journal is replayed. */
  #replayTo = 0;
  #isLive = false;
  /** What came during the replay. */
  #buffered: EntryBatch[] = [];
  #isLost = false;

  constructor(hub: JournalHub, counts: HttpCounts, request: EntryStreamRequest) {
    this.#hub = hub;
    this.#counts = counts;
    this.#request = request;
  }

  /** Begins to buffer entries; to be called before the upgrade is answered. */
  async subscribe(): Promise<void> {
    const { ledgerId, since } = this.#request;
    const listener = (batch: EntryBatch) => {
      if (this.#isLive) this.#deliver(batch);
      else this.#buffer(batch);
    };
    this.#subscription = await this.#hub.subscribe(ledgerId, listener, () => {
      this.#isLost = true;
      this.#closeLost();
    });
    const { fromPlace } = this.#subscription;
    this.#replayTo = Math.max(this.#replayTo, fromPlace);
    this.#lastSequence = since ?? fromPlace;
  }

  /** A reader that is slow to take its replay must not make entries pile up: the journal has them. */
  #buffer(batch: EntryBatch): void {
    this.#buffered.push(batch);
    const count = this.#buffered.reduce((sum, { length }) => sum + length, 0);
    if (count <= bufferedEventsMax) return;
    this.#replayTo = batch.at(-1)?.sequence ?? this.#replayTo;
    this.#buffered = [];
  }

  end(): void {
    this.#subscription?.end();
  }

  #closeLost(): void {
    this.#reader?.socket.close(
      closeCodes.serviceRestart,
      "another host of the database serves now",
    );
  }

  /** Replays and sends until the socket is closed. `connection` is what the socket writes to. */
  attach(socket: WebSocket, connection: Duplex): void {
    watchStream(socket, this.#request.isApiKeyLive);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.end();
    });
    this.#reader = { socket, connection };
    // Before it was attached.
    if (this.#isLost) {
      this.#closeLost();
      return;
    }
    this.#replay(socket, connection).then(
      () => {
        this.#isLive = true;
        for (const batch of this.#buffered) this.#deliver(batch);
        this.#buffered = [];
      },
      () => {
        socket.close(closeCodes.tryAgainLater, "the journal can't be read at the moment");
      },
    );
  }

  /** A replay waits for its reader; only what is recorded live has to keep up. */
  async #replay(socket: WebSocket, connection: Duplex): Promise<void> {
    const { ledgerId } = this.#request;
    while (this.#lastSequence < this.#replayTo && isOpen(socket)) {
      const batch = await this.#hub.readBetween(ledgerId, this.#lastSequence, this.#replayTo);
      if (batch.length === 0 || !isOpen(socket)) return;
      await new Promise<void>((resolve) => {
        this.#write(batch, connection, () => {
          resolve();
        });
      });
    }
  }

  #deliver(batch: EntryBatch): void {
    const last = this.#lastSequence;
    const isNew = (batch[0]?.sequence ?? 0) > last;
    // A reader that knows a part of it has frames of its own.
    const news = isNew ? batch : batch.filter(({ sequence }) => sequence > last);
    if (news.length === 0 || this.#reader === null) return;
    const { socket, connection } = this.#reader;
    if (!isOpen(socket)) return;
    // Never with a gap: whoever comes back with the sequence that it has is replayed what is between.
    if (news[0]?.sequence !== last + 1) {
      socket.close(closeCodes.tryAgainLater, "entries of the journal were missed; come back");
    } else if (socket.bufferedAmount >= unsentBytesMax) closeSlow(socket, this.#counts);
    else this.#write(news, connection);
  }

  /**
   * Past the WebSocket, to the connection below it: between its own frames, which it writes whole, and not after its close,
   * which whoever calls this has looked for.
   */
  #write(batch: EntryBatch, connection: Duplex, onSent?: () => void): void {
    this.#counts.streamMessages += batch.length;
    this.#lastSequence = batch.at(-1)?.sequence ?? this.#lastSequence;
    connection.write(entryFrames(batch), onSent);
  }
}

function isOpen(socket: WebSocket): boolean {
  return socket.readyState === socket.OPEN;
}

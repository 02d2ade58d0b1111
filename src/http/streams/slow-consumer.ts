// How live events reach a reader, and what happens to one that takes them more slowly than they come.
import type { WebSocket } from "ws";
import type { BalanceEvent } from "../../engine/stream-hub.ts";
import type { HttpCounts } from "../http-counts.ts";
import { closeCodes } from "./close-codes.ts";
import { conflateFromBytes, conflateMsMax, unsentBytesMax } from "./limits.ts";

/** Sends live events to one reader. */
export interface EventSender {
  send(event: BalanceEvent): void;
}

/** Sends every event with its seq, and closes the stream of a reader that leaves too much of them unsent. */
export class CompleteSender implements EventSender {
  readonly #socket: WebSocket;
  readonly #counts: HttpCounts;

  constructor(socket: WebSocket, counts: HttpCounts) {
    this.#socket = socket;
    this.#counts = counts;
  }

  send(event: BalanceEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount >= unsentBytesMax) closeSlow(this.#socket, this.#counts);
    else this.#socket.send(this.#message(event));
  }

  /** For a replay, which waits for its reader: resolves when the event is sent, or the socket is closed. */
  async sendAndWait(event: BalanceEvent): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.send(this.#message(event), () => {
        resolve();
      });
    });
  }

  #message({ balance, available, seq }: BalanceEvent): string {
    this.#counts.streamMessages += 1;
    return `{"type":"balance","balance":"${balance}","available":"${available}","seq":${seq}}`;
  }
}

/**
 * Sends a plain reader every event while it keeps up. Of what comes while it is behind it gets the latest event
 * only (conflation), as soon as it has caught up; a reader that stays behind is closed.
 */
export class ConflatingSender implements EventSender {
  readonly #socket: WebSocket;
  readonly #counts: HttpCounts;
  #latest: BalanceEvent | null = null;
  #closeTimer: NodeJS.Timeout | null = null;

  constructor(socket: WebSocket, counts: HttpCounts) {
    this.#socket = socket;
    this.#counts = counts;
    socket.on("close", () => {
      this.#forget();
    });
  }

  send(event: BalanceEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#isBehind()) {
      this.#latest = event;
      this.#closeTimer ??= setTimeout(() => {
        this.#forget();
        closeSlow(this.#socket, this.#counts);
      }, conflateMsMax);
    } else {
      this.#forget();
      this.#counts.streamMessages += 1;
      const { balance, available } = event;
      const message = `{"type":"balance","balance":"${balance}","available":"${available}"}`;
      this.#socket.send(message, this.#onSent);
    }
  }

  readonly #onSent = (): void => {
    const latest = this.#latest;
    if (latest !== null && !this.#isBehind()) this.send(latest);
  };

  #isBehind(): boolean {
    return this.#socket.bufferedAmount >= conflateFromBytes;
  }

  #forget(): void {
    this.#latest = null;
    if (this.#closeTimer !== null) clearTimeout(this.#closeTimer);
    this.#closeTimer = null;
  }
}

/** What is unsent goes out before the close; a reader that takes none of it is cut by ws after 30 s. */
function closeSlow(socket: WebSocket, counts: HttpCounts): void {
  counts.slowReaders += 1;
  socket.close(closeCodes.tryAgainLater, "the reader can't keep up");
}

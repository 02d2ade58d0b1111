// How live events reach a reader, and what happens to one that takes them more slowly than they come.
import type { WebSocket } from "ws";
import type { BalanceEvent } from "../../engine/wallet-feed.ts";
import type { HttpCounts } from "../http-counts.ts";
import { closeCodes } from "./close-codes.ts";
import { conflateFromBytes, conflateMsMax, unsentBytesMax } from "./limits.ts";

/** Sends live events to one reader. */
export type SendEvent = (event: BalanceEvent) => void;

/** What sends to a reader that must not miss anything. */
export interface CompleteSender {
  /** Sends an event with its seq, and closes the stream of a reader that leaves too much of them unsent. */
  readonly send: SendEvent;
  /** For a replay, which waits for its reader: resolves when the event is sent, or the socket is closed. */
  sendAndWait(event: BalanceEvent): Promise<void>;
}

/** Makes the sender to a reader that asked for the events after a seq. */
export function createCompleteSender(socket: WebSocket, counts: HttpCounts): CompleteSender {
  const textOf = ({ balance, available, seq }: BalanceEvent): string => {
    counts.streamMessages += 1;
    return `{"type":"balance","balance":"${balance}","available":"${available}","seq":${seq}}`;
  };
  return {
    send: (event) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount >= unsentBytesMax) closeSlow(socket, counts);
      else socket.send(textOf(event));
    },
    sendAndWait: (event) =>
      new Promise((resolve) => {
        socket.send(textOf(event), () => {
          resolve();
        });
      }),
  };
}

/**
 * Makes the sender to a plain reader, which gets every event while it keeps up. Of what comes while it is behind it
 * gets the latest event only (conflation), as soon as it has caught up; a reader that stays behind is closed.
 */
export function createLatestSender(socket: WebSocket, counts: HttpCounts): SendEvent {
  let latest: BalanceEvent | null = null;
  let closeTimer: NodeJS.Timeout | undefined;
  const isBehind = () => socket.bufferedAmount >= conflateFromBytes;
  const forget = () => {
    latest = null;
    clearTimeout(closeTimer);
    closeTimer = undefined;
  };
  const send = (event: BalanceEvent): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (isBehind()) {
      latest = event;
      closeTimer ??= setTimeout(() => {
        forget();
        closeSlow(socket, counts);
      }, conflateMsMax);
      return;
    }
    forget();
    counts.streamMessages += 1;
    const { balance, available } = event;
    socket.send(`{"type":"balance","balance":"${balance}","available":"${available}"}`, onSent);
  };
  const onSent = (): void => {
    if (latest !== null && !isBehind()) send(latest);
  };
  socket.on("close", forget);
  return send;
}

/** What is unsent goes out before the close; a reader that takes none of it is cut by ws after 30 s. */
export function closeSlow(socket: WebSocket, counts: HttpCounts): void {
  counts.slowReaders += 1;
  socket.close(closeCodes.tryAgainLater, "the reader can't keep up");
}

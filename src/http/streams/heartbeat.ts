// What is looked at while a stream is open: whether its client is still there, and its key still live.
import type { WebSocket } from "ws";
import { closeCodes } from "./close-codes.ts";
import { keyCheckIntervalMs, pingIntervalMs } from "./limits.ts";

/** Pings the client and checks the key until the socket is closed. */
export function watchStream(socket: WebSocket, isKeyLive: () => Promise<boolean>): void {
  const timers = [
    setInterval(heartbeat(socket), pingIntervalMs),
    setInterval(() => void closeWhenRevoked(socket, isKeyLive), keyCheckIntervalMs),
  ];
  socket.on("close", () => {
    for (const timer of timers) clearInterval(timer);
  });
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

async function closeWhenRevoked(
  socket: WebSocket,
  isKeyLive: () => Promise<boolean>,
): Promise<void> {
  // A database that can't be asked has not revoked anything.
  const isLive = await isKeyLive().catch(() => true);
  if (!isLive) socket.close(closeCodes.policy, "the API key is no longer valid");
}

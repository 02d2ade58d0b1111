// What is looked at while a stream is open: whether its client is still there, and its API key still live.
import type { WebSocket } from "ws";
import { closeCodes } from "./close-codes.ts";
import { apiKeyCheckIntervalMs, pingIntervalMs } from "./limits.ts";

/** Pings the client and checks the API key until the socket is closed. */
export function watchStream(socket: WebSocket, isApiKeyLive: () => Promise<boolean>): void {
  let isAnswered = true;
  socket.on("pong", () => {
    isAnswered = true;
  });
  const pings = setInterval(() => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
  }, pingIntervalMs);
  const checks = setInterval(() => {
    void isApiKeyLive().then(
      (isLive) => {
        if (!isLive) socket.close(closeCodes.policy, "the API key is no longer valid");
      },
      // A database that can't be asked has not revoked anything.
      () => undefined,
    );
  }, apiKeyCheckIntervalMs);
  socket.on("close", () => {
    clearInterval(pings);
    clearInterval(checks);
  });
}

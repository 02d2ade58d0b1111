// Requests that are turned away, and not heard again for a while, before their bodies are there whole.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { hearLater } from "../../src/http/backpressure.ts";
import { giveUp, watchConnections } from "../../src/http/connections.ts";

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Turns every request away, as a ledger without room does. */
async function listen(requestTimeoutMs: number): Promise<number> {
  server = createServer(
    { requestTimeout: requestTimeoutMs, connectionsCheckingInterval: 50 },
    (_request, response) => {
      hearLater(response);
      response.writeHead(503, { "content-length": 0 }).end();
    },
  );
  watchConnections(server, 100, { connections: 0 });
  server.on("clientError", (_error: Error, socket: Socket) => {
    giveUp(socket, () => "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

test.each([
  ["breaks", "Transfer-Encoding: chunked", "zz\r\n", 30_000],
  ["never comes", "Content-Length: 5", "", 500],
  ["is left out for the next request", "Content-Length: 500", "GET / HTTP/1.1\r\n\r\n", 500],
])("a body that %s has no second answer", async (_what, header, rest, requestTimeoutMs) => {
  const port = await listen(requestTimeoutMs);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  const ended = once(socket, "end");
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
  await once(socket, "data");
  socket.write(rest);
  await ended;
  expect([...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(["503"]);
  socket.destroy();
});

// What is held for callers who go away is let go of, whenever they go.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HeldAnswers, watchConnections, whenClosed } from "../../src/http/connections.ts";
import { RequestBodies } from "../../src/http/request-bodies.ts";

const bodyBytes = 100_000;

let server: ReturnType<typeof createServer>;

beforeEach(async () => {
  server = createServer();
  watchConnections(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a request, or several at once, and resolves with the last of them and its connection. */
async function send(...requests: string[]) {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  const taken = new Promise<[IncomingMessage, ServerResponse]>((resolve) => {
    const take = (request: IncomingMessage, response: ServerResponse) => {
      if (request.url !== "/last") return;
      server.off("request", take);
      resolve([request, response]);
    };
    server.on("request", take);
  });
  socket.write(requests.join(""));
  const [request, response] = await taken;
  return { socket, request, response };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = `POST /last HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyBytes}\r\n\r\n${"x".repeat(bodyBytes)}`;

test("an answer made after its caller went away is not held", async () => {
  const held = new HeldAnswers(bodyBytes);
  const gone = await send(get("/last"));
  gone.socket.destroy();
  await once(gone.response, "close");
  expect(held.hold(gone.response, bodyBytes, "somebody")).toBe(true);
  const other = await send(get("/last"));
  expect(held.hold(other.response, bodyBytes, "another")).toBe(true);
});

test("an answer behind another is let go of with its connection", async () => {
  const held = new HeldAnswers(bodyBytes);
  const gone = await send(get("/first"), get("/last"));
  expect(held.hold(gone.response, bodyBytes, "somebody")).toBe(true);
  const signal = whenClosed(gone.response);
  const isClosed = once(gone.request.socket, "close");
  gone.socket.destroy();
  await isClosed;
  expect(signal.aborted).toBe(true);
  const other = await send(get("/last"));
  expect(held.hold(other.response, bodyBytes, "another")).toBe(true);
});

test("the body of a request behind another is let go of with its connection", async () => {
  const bodies = new RequestBodies({ bodyBytesMax: bodyBytes, heldBytesMax: bodyBytes });
  const gone = await send(get("/first"), post);
  expect(await bodies.read(gone.request, gone.response)).toHaveLength(bodyBytes);
  const isClosed = once(gone.request.socket, "close");
  gone.socket.destroy();
  await isClosed;
  const other = await send(post);
  expect(await bodies.read(other.request, other.response)).toHaveLength(bodyBytes);
});

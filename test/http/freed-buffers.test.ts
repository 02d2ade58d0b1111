// What is buffered for callers who go away is freed, whenever they go.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Connections } from "../../src/http/connections.ts";
import { whenClosed } from "../../src/http/exchanges.ts";
import { IncomingRequest } from "../../src/http/incoming-request.ts";
import { ResponseBuffer } from "../../src/http/response-buffer.ts";
import { RequestBodies } from "../../src/http/request-bodies.ts";

const bodyBytes = 100_000;

let server: Server<typeof IncomingRequest>;

beforeEach(async () => {
  server = createServer({ IncomingMessage: IncomingRequest });
  new Connections(server, null);
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
  const taken = new Promise<[IncomingRequest, ServerResponse]>((resolve) => {
    const take = (request: IncomingRequest, response: ServerResponse) => {
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

/** Resolves when a connection is closed, with an error or without. */
const closeOf = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve));
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = `POST /last HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyBytes}\r\n\r\n${"x".repeat(bodyBytes)}`;

test("an answer made after its caller went away is not counted", async () => {
  const buffer = new ResponseBuffer(bodyBytes);
  const gone = await send(get("/last"));
  gone.socket.resetAndDestroy();
  await once(gone.response, "close");
  expect(buffer.reserve(gone.response, bodyBytes, "somebody")).toBe(true);
  const other = await send(get("/last"));
  expect(buffer.reserve(other.response, bodyBytes, "another")).toBe(true);
});

test("an answer behind another is freed with its connection", async () => {
  const buffer = new ResponseBuffer(bodyBytes);
  const gone = await send(get("/first"), get("/last"));
  expect(buffer.reserve(gone.response, bodyBytes, "somebody")).toBe(true);
  const signal = whenClosed(gone.response);
  const isClosed = closeOf(gone.request.socket);
  gone.socket.resetAndDestroy();
  await isClosed;
  expect(signal.aborted).toBe(true);
  const other = await send(get("/last"));
  expect(buffer.reserve(other.response, bodyBytes, "another")).toBe(true);
});

test("the body of a request behind another is freed with its connection", async () => {
  const bodies = new RequestBodies({ bodyBytesMax: bodyBytes, bufferedBytesMax: bodyBytes });
  const gone = await send(get("/first"), post);
  expect(await bodies.read(gone.request, gone.response)).toHaveLength(bodyBytes);
  const isClosed = closeOf(gone.request.socket);
  gone.socket.resetAndDestroy();
  await isClosed;
  const other = await send(post);
  expect(await bodies.read(other.request, other.response)).toHaveLength(bodyBytes);
});

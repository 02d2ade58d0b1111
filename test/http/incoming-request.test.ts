// The body of a request reaches its sink whole and once, and its connection goes on to the next request.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { errorCode } from "../../src/core/thrown.ts";
import { IncomingRequest } from "../../src/http/incoming-request.ts";
import { until } from "../support/until.ts";

let server: Server<typeof IncomingRequest>;
let socket: Socket;
let received: string;
let onRequest: (request: IncomingRequest, response: ServerResponse) => void;

beforeEach(async () => {
  received = "";
  server = createServer({ IncomingMessage: IncomingRequest }, (request, response) => {
    onRequest(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
});

afterEach(() => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Notes what a sink gets. */
function noteBody(request: IncomingRequest, noted: string[]): void {
  request.readBody({
    write: (chunk) => noted.push(chunk.toString()),
    end: () => noted.push("end"),
    abort: (error) => noted.push(`abort: ${errorCode(error) ?? error.message}`),
  });
}

/** Sends the head of a request, with what follows it; nobody has answered or read the request that comes of it. */
async function send(...texts: string[]): Promise<[IncomingRequest, ServerResponse]> {
  const exchange = new Promise<[IncomingRequest, ServerResponse]>((resolve) => {
    onRequest = (...came) => {
      resolve(came);
    };
  });
  for (const text of texts) socket.write(text);
  return exchange;
}

const head = (length: number) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
const answers = () => received.split("HTTP/1.1 200").length - 1;

test("a body is given as it comes, request after request of a connection", async () => {
  const noted: string[] = [];
  onRequest = (request, response) => {
    noteBody(request, noted);
    void until("the end", () => noted.at(-1) === "end").then(() => response.end());
  };
  for (let round = 1; round <= 3; round += 1) {
    socket.write(head(6) + "abc");
    await until("the first chunk", () => noted.at(-1) === "abc");
    socket.write("def");
    await until("an answer", () => answers() === round);
    expect(noted.splice(0)).toEqual(["abc", "def", "end"]);
  }
});

test("a body that came whole before it was read is given at once", async () => {
  const noted: string[] = [];
  const [request, response] = await send(head(6) + "abcdef");
  await until("all of it", () => request.complete);
  noteBody(request, noted);
  expect(noted).toEqual(["abcdef", "end"]);
  response.end();
  await until("an answer", () => answers() === 1);
});

test("a body of several chunks that came whole before it was read is given in order", async () => {
  const noted: string[] = [];
  const [request, response] = await send(
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
    "3\r\nabc\r\n3\r\ndef\r\n3\r\nghi\r\n0\r\n\r\n",
  );
  await until("all of it", () => request.complete);
  noteBody(request, noted);
  expect(noted).toEqual(["abc", "def", "ghi", "end"]);
  response.end();
  await until("an answer", () => answers() === 1);
});

test("a body of which a part came before it was read is given from its first byte on", async () => {
  const noted: string[] = [];
  const [request, response] = await send(head(6) + "abc");
  await until("a part of it", () => request.socket.bytesRead === head(6).length + 3);
  noteBody(request, noted);
  socket.write("def");
  await until("the end", () => noted.at(-1) === "end");
  expect(noted).toEqual(["abc", "def", "end"]);
  response.end();
  await until("an answer", () => answers() === 1);
});

test("a long body of which Node has stopped reading comes whole", async () => {
  const length = 3_000_000;
  for (let round = 1; round <= 2; round += 1) {
    const [request, response] = await send(head(length) + "x".repeat(length));
    await until("a pause", () => request.socket.isPaused());
    const noted: string[] = [];
    noteBody(request, noted);
    await until("the end", () => noted.at(-1) === "end");
    expect(noted.slice(0, -1).join("")).toHaveLength(length);
    response.end();
    await until("an answer", () => answers() === round);
  }
});

test("a sink is told once of a connection that is lost in the middle of a body", async () => {
  const noted: string[] = [];
  onRequest = (request) => {
    noteBody(request, noted);
  };
  socket.write(head(6) + "abc");
  await until("the first chunk", () => noted.at(-1) === "abc");
  socket.resetAndDestroy();
  await until("the loss", () => noted.length > 1);
  expect(noted).toEqual(["abc", "abort: ECONNRESET"]);
});

test("a sink is told nothing after the end of a body", async () => {
  const noted: string[] = [];
  const [request] = await send(head(3) + "abc");
  noteBody(request, noted);
  await until("the end", () => noted.at(-1) === "end");
  socket.resetAndDestroy();
  await until("the loss", () => request.destroyed);
  expect(noted).toEqual(["abc", "end"]);
});

test("a sink is told of a connection that was lost before the body was read", async () => {
  const noted: string[] = [];
  const [request] = await send(head(6) + "abc");
  socket.resetAndDestroy();
  await until("the loss", () => request.destroyed);
  noteBody(request, noted);
  expect(noted).toEqual(["abort: the connection was lost"]);
});

test("what comes of a body after it is dropped does not reach its sink, and the connection goes on", async () => {
  const noted: string[] = [];
  const [request, response] = await send(head(6) + "abc");
  noteBody(request, noted);
  await until("the first chunk", () => noted.at(-1) === "abc");
  request.dropBody();
  response.end();
  await until("an answer", () => answers() === 1);
  const [, next] = await send("def" + head(0));
  next.end();
  await until("the next answer", () => answers() === 2);
  expect(noted).toEqual(["abc"]);
});

test("a connection goes on behind a body that nobody reads", async () => {
  onRequest = (_request, response) => {
    response.end();
  };
  socket.write(head(6) + "abcdef" + head(3) + "abc");
  await until("both answers", () => answers() === 2);
});

test("a connection goes on after a long body that nobody reads", async () => {
  const length = 3_000_000;
  const [request, response] = await send(head(length) + "x".repeat(length));
  await until("a pause", () => request.socket.isPaused());
  response.end();
  await until("an answer", () => answers() === 1);
  const [, next] = await send(head(0));
  next.end();
  await until("the next answer", () => answers() === 2);
});

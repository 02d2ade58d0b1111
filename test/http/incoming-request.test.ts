// A body is given as it comes, and its connection goes on to the next request.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { IncomingRequest } from "../../src/http/incoming-request.ts";
import { until } from "../support/until.ts";

let server: Server<typeof IncomingRequest>;
let socket: Socket;
let received = "";
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

/** Notes what a taker is told. */
function takeAll(request: IncomingRequest, told: string[]): void {
  request.takeBody({
    take: (piece) => told.push(piece.toString()),
    end: () => told.push("end"),
    fail: (error) => told.push(`lost: ${error.message}`),
  });
}

const head = (length: number) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
const answers = () => received.split("HTTP/1.1 200").length - 1;

test("its pieces are given as they come, and its end once, request after request", async () => {
  const told: string[] = [];
  onRequest = (request, response) => {
    takeAll(request, told);
    void until("the end", () => told.at(-1) === "end").then(() => response.end());
  };
  for (let round = 1; round <= 3; round += 1) {
    socket.write(head(6) + "abc");
    await until("the first piece", () => told.at(-1) === "abc");
    socket.write("def");
    await until("an answer", () => answers() === round);
    expect(told.splice(0)).toEqual(["abc", "def", "end"]);
  }
});

test("what came of it before somebody takes it is given at once", async () => {
  const told: string[] = [];
  onRequest = (request, response) => {
    void sleep(50).then(() => {
      takeAll(request, told);
      void until("the end", () => told.at(-1) === "end").then(() => response.end());
    });
  };
  socket.write(head(6) + "abcdef");
  await until("an answer", () => answers() === 1);
  socket.write(head(6) + "abc");
  await until("the first piece", () => told.at(-1) === "abc");
  socket.write("def");
  await until("an answer", () => answers() === 2);
  expect(told).toEqual(["abcdef", "end", "abc", "def", "end"]);
});

test("whoever takes it learns once that the connection is lost", async () => {
  const told: string[] = [];
  onRequest = (request) => {
    takeAll(request, told);
  };
  socket.write(head(6) + "abc");
  await until("the first piece", () => told.at(-1) === "abc");
  socket.resetAndDestroy();
  await until("the loss", () => told.length > 1);
  await sleep(20);
  expect(told).toEqual(["abc", "lost: aborted"]);
});

test("what comes after the answer is dropped, and the connection goes on", async () => {
  const told: string[] = [];
  onRequest = (request, response) => {
    takeAll(request, told);
    response.end();
  };
  socket.write(head(6) + "abc");
  await until("an answer", () => answers() === 1);
  socket.write("def" + head(0));
  await until("an answer", () => answers() === 2);
  expect(received).not.toContain("400");
});

test("nobody has to take it", async () => {
  onRequest = (_request, response) => {
    response.end();
  };
  socket.write(head(6) + "abcdef" + head(3) + "abc");
  await until("both answers", () => answers() === 2);
});

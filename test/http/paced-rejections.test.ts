// Real connections to a server that rejects everything.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PacedRejections } from "../../src/http/paced-rejections.ts";

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
let rejections: PacedRejections;
let server: Server;
/** Numbers of connections in the order of their answers. */
let answered: number[];
/** Called when all that were gathered are rejected. */
let onRejected: () => void;
let sockets: Socket[];
/** Requests are gathered until there are so many of them, and rejected in the order of their numbers. */
let together: number;

beforeEach(async () => {
  rejections = new PacedRejections(2_000);
  answered = [];
  sockets = [];
  together = 1;
  onRejected = () => undefined;
  const gathered: { number: number; response: ServerResponse }[] = [];
  server = createServer((incoming, response) => {
    gathered.push({ number: Number(incoming.url?.slice(1)), response });
    if (gathered.length < together) return;
    for (const rejected of gathered.splice(0).sort((a, b) => a.number - b.number)) {
      rejections.schedule(rejected.response, () => {
        answered.push(rejected.number);
        rejected.response.writeHead(503).end();
      });
    }
    onRejected();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(async () => {
  rejections.end();
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
});

async function open(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Opens so many connections and sends a request on each; resolves when all are rejected. */
async function rejectTogether(count: number): Promise<Socket[]> {
  const connections = await Promise.all(Array.from({ length: count }, open));
  together = count;
  const areRejected = new Promise<void>((resolve) => (onRejected = resolve));
  for (const [index, socket] of connections.entries()) {
    socket.write(request.replace("/", `/${index}`));
  }
  await areRejected;
  return connections;
}

test("are answered in the order in which they came, some at once and the rest later", async () => {
  const connections = await rejectTogether(100);
  expect(answered).toHaveLength(20);
  expect(rejections.waiting).toBe(80);
  await Promise.all(connections.map((socket) => once(socket, "data")));
  expect(answered).toEqual(connections.map((_, index) => index));
});

test("are not kept for clients that are gone", async () => {
  const connections = await rejectTogether(100);
  const [last] = [connections.pop()];
  for (const socket of connections) socket.destroy();
  await once(last ?? server, "data");
  expect(rejections.waiting).toBe(0);
});

test("wait one at a time on a connection, however many requests are pipelined", async () => {
  const [socket] = await Promise.all([open()]);
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  socket.write(request.repeat(1_000));
  let mostWaiting = 0;
  const countAnswers = () => {
    mostWaiting = Math.max(mostWaiting, rejections.waiting);
    return text.split("HTTP/1.1 503").length - 1;
  };
  await expect.poll(countAnswers, { interval: 1 }).toBe(1_000);
  expect(mostWaiting).toBeLessThanOrEqual(1);
});

test("are all answered when the server stops, and then each at once", async () => {
  await rejectTogether(60);
  expect(rejections.waiting).toBe(40);
  rejections.end();
  expect(rejections.waiting).toBe(0);
  expect(answered).toHaveLength(60);
  await rejectTogether(60);
  expect(answered).toHaveLength(120);
});

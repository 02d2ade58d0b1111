// Real connections to a server that rejects everything.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PacedRejections } from "../../src/http/paced-rejections.ts";

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
let rejections: PacedRejections;
let server: Server;
/** Numbers of connections in the order of their answers. */
let answered: number[];
let sockets: Socket[];
let came: (() => void) | null;

beforeEach(async () => {
  rejections = new PacedRejections();
  answered = [];
  sockets = [];
  came = null;
  server = createServer((incoming, response) => {
    rejections.schedule(response, () => {
      answered.push(Number(incoming.url?.slice(1)));
      response.writeHead(503).end();
    });
    came?.();
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

/** Sends one request on each connection, in order, and resolves when all of them have come. */
async function send(connections: readonly Socket[]): Promise<void> {
  for (const [index, socket] of connections.entries()) {
    const isHere = new Promise<void>((resolve) => (came = resolve));
    socket.write(request.replace("/", `/${index}`));
    await isHere;
  }
}

test("are answered in the order in which they came, some at once and the rest later", async () => {
  const connections = await Promise.all(Array.from({ length: 100 }, open));
  const answers = connections.map((socket) => once(socket, "data"));
  await send(connections);
  await Promise.all(answers);
  expect(answered).toEqual(connections.map((_, index) => index));
});

test("are not kept for clients that are gone", async () => {
  const connections = await Promise.all(Array.from({ length: 300 }, open));
  for (const [index, socket] of connections.entries()) {
    socket.write(request.replace("/", `/${index}`));
  }
  await expect.poll(() => rejections.waiting).toBeGreaterThan(0);
  for (const socket of connections) socket.destroy();
  await expect.poll(() => rejections.waiting).toBe(0);
  const last = await open();
  last.write(request);
  await once(last, "data");
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
  const connections = await Promise.all(Array.from({ length: 60 }, open));
  const answers = connections.map((socket) => once(socket, "data"));
  let isEnded = false;
  came = () => {
    if (rejections.waiting > 10 && !isEnded) {
      isEnded = true;
      rejections.end();
      expect(rejections.waiting).toBe(0);
    }
  };
  for (const [index, socket] of connections.entries()) {
    socket.write(request.replace("/", `/${index}`));
  }
  await Promise.all(answers);
  expect(isEnded).toBe(true);
  expect(rejections.waiting).toBe(0);
});

// What came before and what comes after bytes that are no request, on one connection.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Connections } from "../../src/http/connections.ts";
import { endBroken, isCancelled } from "../../src/http/exchanges.ts";
import { entriesPath, entry, listEntries } from "../support/entries.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const garbage = "\u0000\u0001 this is no HTTP\r\n\r\n";

const post = (ledgerId: string, body: unknown = entry()) =>
  signedRequestBytes({
    credentials: service.books.credentials,
    target: entriesPath(ledgerId),
    body: JSON.stringify(body),
  });

/** A connection whose client never closes its side by itself. */
function open(port: number) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  // What is written too late may break the connection; what came before counts.
  socket.on("error", () => undefined);
  return { socket, answer: () => answer, ended: once(socket, "end") };
}

/** Sends pieces and resolves with all that came back when the server has closed its side. */
async function converse(...pieces: (string | Buffer)[]): Promise<string> {
  const { socket, answer, ended } = open(service.port);
  for (const piece of pieces) {
    socket.write(piece);
    await sleep(5);
  }
  await ended;
  socket.destroy();
  return answer();
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

const statuses = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

describe("garbage behind requests", () => {
  test("does not take the place of their answers", async () => {
    const ledgerId = await service.books.createLedger();
    const bytes = post(ledgerId);
    for (const requests of [1, 2, 5]) {
      const { total } = await listEntries(service, "", ledgerId);
      const answer = await converse(
        Buffer.concat([...Array<Buffer>(requests).fill(bytes), Buffer.from(garbage)]),
      );
      expect(statuses(answer)).toEqual([...Array<number>(requests).fill(201), 400]);
      expect((await listEntries(service, "", ledgerId)).total).toBe(total + requests);
    }
  });

  test("in a packet of its own does not either", async () => {
    const ledgerId = await service.books.createLedger();
    const answer = await converse(post(ledgerId), garbage, garbage, "GET / HTTP/1.1\r\n\r\n");
    expect(statuses(answer)).toEqual([201, 400]);
  });

  test("in the midst of a body stops that request alone", async () => {
    const ledgerId = await service.books.createLedger();
    const head = `POST ${entriesPath(ledgerId)} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await converse(Buffer.concat([post(ledgerId), Buffer.from(`${head}zz\r\n`)]));
    expect(statuses(answer)).toEqual([201, 400]);
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
  });

  test("that belongs to a body already refused is told nothing more", async () => {
    const head = "POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const { socket, answer, ended } = open(service.port);
    socket.write(head);
    await expect.poll(() => statuses(answer())).toEqual([405]);
    socket.write("zz\r\n");
    await ended;
    expect(statuses(answer())).toEqual([405]);
    socket.destroy();
  });
});

describe("a connection that is being closed", () => {
  /** A server whose requests have to come within 300 ms, as the service's have to within 30 s. */
  async function serveImpatiently(onBody: (target: string) => void) {
    const server = createServer(
      { requestTimeout: 300, headersTimeout: 300, connectionsCheckingInterval: 50 },
      (request, response) => {
        request.resume().on("end", () => {
          if (isCancelled(response)) return;
          onBody(request.url ?? "");
          // Slower than the request behind it may be.
          setTimeout(() => response.end("done"), 1_000);
        });
      },
    );
    new Connections(server, null);
    server.on("clientError", (_error, socket: Socket) => {
      endBroken(socket, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, port: (server.address() as AddressInfo).port };
  }
  const head = (target: string, bytes: number) =>
    `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;

  test("takes no last byte that comes too late, and is closed although its client is not", async () => {
    const taken: string[] = [];
    const { server, port } = await serveImpatiently((target) => taken.push(target));
    const conversation = open(port);
    conversation.socket.write(`${head("/late", 2)}x`);
    await expect.poll(() => statuses(conversation.answer())).toEqual([408]);
    conversation.socket.write("y");
    conversation.socket.write(head("/behind", 0));
    await expect.poll(() => connectionsOf(server)).toBe(0);
    expect(taken).toEqual([]);
    conversation.socket.destroy();
    server.close();
  });

  test("takes none either while an earlier answer is still to come", async () => {
    const taken: string[] = [];
    const { server, port } = await serveImpatiently((target) => taken.push(target));
    const conversation = open(port);
    const broke = once(server, "clientError");
    conversation.socket.write(`${head("/first", 1)}x${head("/late", 2)}x`);
    await broke;
    conversation.socket.write(`y${head("/behind", 0)}`);
    await conversation.ended;
    expect(statuses(conversation.answer())).toEqual([200, 408]);
    expect(taken).toEqual(["/first"]);
    await expect.poll(() => connectionsOf(server)).toBe(0);
    conversation.socket.destroy();
    server.close();
  });

  test("is closed after garbage too", async () => {
    const { server, port } = await serveImpatiently(() => undefined);
    const conversations = Array.from({ length: 20 }, () => open(port));
    for (const { socket } of conversations) socket.write(garbage);
    await Promise.all(conversations.map(({ ended }) => ended));
    await expect.poll(() => connectionsOf(server)).toBe(0);
    for (const { socket } of conversations) socket.destroy();
    server.close();
  });
});

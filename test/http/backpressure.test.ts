// Crowds of writers: who has had an answer is heard again in turn, and nobody loses anything by it.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Crowds } from "../../src/http/backpressure.ts";
import { watchConnections } from "../../src/http/connections.ts";
import { sampleOf } from "../support/metrics.ts";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { movement, newKey, readFigures, walletPath } from "../support/wallets.ts";

const crowdMin = 500;
/** Longer than any of these tests lasts. */
const turnMsMax = 60_000;
const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const health = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

interface Connection {
  readonly socket: Socket;
  readonly answers: () => number;
}

const opened: Socket[] = [];

async function open(port: number): Promise<Connection> {
  const socket = connect(port, "127.0.0.1");
  opened.push(socket);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "connect");
  return { socket, answers: () => text.split("HTTP/1.1 ").length - 1 };
}

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

describe("in a crowd", () => {
  let crowds: Crowds;
  let server: Server;
  let port: number;
  let disperse: () => void;

  beforeEach(async () => {
    crowds = new Crowds(turnMsMax);
    const dispersed = new Promise<void>((resolve) => (disperse = resolve));
    for (let member = 0; member < crowdMin; member += 1) {
      void crowds.among("a", () => dispersed);
    }
    server = createServer((_request, response) => {
      crowds.wait("a", response);
      response.writeHead(200, { "content-length": 0 }).end();
    });
    watchConnections(server, 100, { connections: 0 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Connections that have had an answer, one after the other, and have asked again. */
  async function openWaiting(count: number): Promise<Connection[]> {
    const waiting: Connection[] = [];
    for (let index = 0; index < count; index += 1) {
      const connection = await open(port);
      connection.socket.write(request);
      await once(connection.socket, "data");
      waiting.push(connection);
    }
    for (const { socket } of waiting) socket.write(request);
    await sleep(100);
    return waiting;
  }

  const answersOf = (connections: readonly Connection[]) =>
    connections.map(({ answers }) => answers());

  test("who has waited longest is heard first, two for an answer", async () => {
    const waiting = await openWaiting(3);
    expect(answersOf(waiting)).toEqual([1, 1, 1]);
    crowds.hearNext("b");
    crowds.hearNext("a");
    await expect.poll(() => answersOf(waiting)).toEqual([2, 2, 1]);
    crowds.hearNext("a");
    await expect.poll(() => answersOf(waiting)).toEqual([2, 2, 2]);
  });

  test("who has asked for more before the answer is heard at once", async () => {
    const { socket, answers } = await open(port);
    socket.write(request.repeat(3));
    await expect.poll(answers).toBe(3);
  });

  test("who has gone keeps nobody from a turn", async () => {
    const [gone, ...others] = await openWaiting(3);
    gone?.socket.destroy();
    crowds.hearNext("a");
    crowds.hearNext("a");
    await expect.poll(() => answersOf(others)).toEqual([2, 2]);
  });

  test("only so many under way are one, and others are none", async () => {
    expect([crowds.isCrowded("a"), crowds.isCrowded("b")]).toEqual([true, false]);
    disperse();
    await expect.poll(() => crowds.isCrowded("a")).toBe(false);
    const { socket, answers } = await open(port);
    socket.write(request);
    await expect.poll(answers).toBe(1);
    socket.write(request);
    await expect.poll(answers).toBe(2);
  });
});

describe("a ledger that many write to", () => {
  const service = serveBooks();

  function creditOf(walletKey: string): Buffer {
    return signedRequestBytes({
      credentials: service.books.credentials,
      target: walletPath(walletKey, "credit"),
      body: JSON.stringify(movement(1)),
    });
  }

  /** Writes that wait, of all ledgers. */
  async function waiting(): Promise<number | null> {
    const { text } = await service.send({ target: "/metrics", credentials: null });
    return sampleOf(text, "ledgerctl_queue_writes", { lane: "wallets" });
  }

  /** Holds the row of a ledger's state, so that writes to it wait. */
  async function whileStuck(ledgerId: string, act: () => Promise<void>): Promise<void> {
    const client = new Client({ connectionString: service.books.databaseUrl });
    await client.connect();
    try {
      await client.query("BEGIN");
      await client.query("SELECT FROM ledger_states WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
      await act();
    } finally {
      await client.end();
    }
  }

  test("takes every write of all of them, each of which is answered", async () => {
    const key = newKey(service);
    const writers = 1_200;
    const rounds = 3;
    const connections: Connection[] = [];
    for (let index = 0; index < writers; index += 100) {
      const some = await Promise.all(Array.from({ length: 100 }, () => open(service.port)));
      connections.push(...some);
    }
    await Promise.all(
      connections.map(async ({ socket, answers }) => {
        for (let round = 1; round <= rounds; round += 1) {
          socket.write(creditOf(key));
          while (answers() < round) await once(socket, "data");
        }
      }),
    );
    const total = String(writers * rounds);
    expect(await readFigures(service, key)).toEqual({ balance: total, available: total });
  });

  test("hears a proxy's connection at once, and another only in its turn", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    const crowd = await Promise.all(Array.from({ length: crowdMin }, () => open(service.port)));
    const [own, passedOn] = [await open(service.port), await open(service.port)];
    await whileStuck(ledgerId, async () => {
      for (const { socket } of crowd) socket.write(creditOf(key));
      await expect.poll(waiting, { timeout: 10_000 }).toBe(crowdMin);
      const head = `POST ${walletPath(key, "credit")} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n`;
      own.socket.write(`${head}\r\n`);
      await once(own.socket, "data");
      const askedMs = performance.now();
      own.socket.write(health);
      passedOn.socket.write(`${head}X-Forwarded-For: 192.0.2.1\r\n\r\n`);
      await once(passedOn.socket, "data");
      passedOn.socket.write(health);
      const first = await Promise.race(
        [own, passedOn].map(async (connection) => {
          await once(connection.socket, "data");
          return connection;
        }),
      );
      expect(first).toBe(passedOn);
      await expect.poll(own.answers, { timeout: 5_000 }).toBe(2);
      expect(performance.now() - askedMs).toBeGreaterThan(900);
    });
    const answered = () => crowd.filter(({ answers }) => answers() === 1).length;
    await expect.poll(answered, { timeout: 10_000 }).toBe(crowdMin);
    const logged = "SELECT FROM wallet_writes WHERE ledger_id = $1";
    expect(await countRows(service, logged, [ledgerId])).toBe(crowdMin);
  });
});

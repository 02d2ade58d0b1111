// Crowds of writers: who has had an answer is heard again in turn, and nobody loses anything by it.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Crowd, Crowds } from "../../src/http/backpressure.ts";
import { afterAnswers, watchConnections } from "../../src/http/connections.ts";
import { sampleOf } from "../support/metrics.ts";
import { serveBooks } from "../support/service.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { accepted, move, movement, newKey, readFigures, walletPath } from "../support/wallets.ts";

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

/** Requests of a crowd that are under way until they are answered, one by one. */
class Members {
  readonly #answers: (() => void)[] = [];

  constructor(crowd: Crowd, count: number) {
    for (let member = 0; member < count; member += 1) {
      void crowd.among(() => new Promise<void>((resolve) => this.#answers.push(resolve)));
    }
  }

  async answer(count: number): Promise<void> {
    for (const answer of this.#answers.splice(0, count)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("in a crowd", () => {
  let crowds: Crowds;
  let server: Server;
  let port: number;

  beforeEach(async () => {
    crowds = new Crowds(turnMsMax);
    server = createServer((request, response) => {
      request.resume().once("end", () => {
        crowds.of("a").wait(response);
        response.writeHead(200, { "content-length": 0 }).end();
      });
    });
    watchConnections(server, 100, { connections: 0 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => {
    crowds.disperse();
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
  const patient = { timeout: 10_000 };

  test("who has waited longest is heard first: one for two answers, then two for one, then all", async () => {
    const members = new Members(crowds.of("a"), crowdMin + 3);
    const others = new Members(crowds.of("b"), 2);
    const waiting = await openWaiting(7);
    await others.answer(2);
    await members.answer(1);
    await expect.poll(() => answersOf(waiting), patient).toEqual([2, 1, 1, 1, 1, 1, 1]);
    await members.answer(1);
    await sleep(100);
    expect(answersOf(waiting)).toEqual([2, 1, 1, 1, 1, 1, 1]);
    await members.answer(1);
    await expect.poll(() => answersOf(waiting), patient).toEqual([2, 2, 1, 1, 1, 1, 1]);
    await members.answer(1);
    await expect.poll(() => answersOf(waiting), patient).toEqual([2, 2, 2, 2, 1, 1, 1]);
    await members.answer(crowdMin);
    await expect.poll(() => answersOf(waiting), patient).toEqual([2, 2, 2, 2, 2, 2, 2]);
  });

  test("only so many under way are one", async () => {
    const crowd = crowds.of("a");
    const members = new Members(crowd, crowdMin - 1);
    expect(crowd.isCrowded).toBe(false);
    const [asking] = await openWaiting(1);
    await expect.poll(() => asking?.answers(), patient).toBe(2);
    new Members(crowd, 1);
    expect([crowd.isCrowded, crowds.of("b").isCrowded]).toEqual([true, false]);
    await members.answer(1);
    expect(crowd.isCrowded).toBe(false);
  });

  test("who has begun to ask for more before the answer is heard on", async () => {
    new Members(crowds.of("a"), crowdMin);
    const { socket, answers } = await open(port);
    const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n";
    socket.write(`${request}${head}`);
    await expect.poll(answers, patient).toBe(1);
    await sleep(100);
    socket.write("{}");
    await expect.poll(answers, patient).toBe(2);
  });

  test("who goes on to something else than requests is heard on", async () => {
    new Members(crowds.of("a"), crowdMin);
    server.on("upgrade", (_request, socket: Socket) => {
      afterAnswers(server, socket, () => socket.pipe(socket));
    });
    const { socket, answers } = await open(port);
    let echoed = "";
    socket.on("data", (chunk: Buffer) => (echoed += chunk.toString("latin1")));
    socket.write(
      `${request}GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
    );
    await expect.poll(answers, patient).toBe(1);
    await sleep(100);
    socket.write("heard");
    await expect.poll(() => echoed, patient).toMatch(/heard$/);
  });

  test("who has gone is out of the way after a turn", async () => {
    const members = new Members(crowds.of("a"), crowdMin);
    const [first, second, ...others] = await openWaiting(4);
    first?.socket.resetAndDestroy();
    second?.socket.resetAndDestroy();
    await sleep(100);
    await members.answer(2);
    await expect.poll(() => answersOf(others), patient).toEqual([2, 2]);
  });

  test("all are heard when the server stops", async () => {
    new Members(crowds.of("a"), crowdMin);
    const waiting = await openWaiting(3);
    crowds.disperse();
    await expect.poll(() => answersOf(waiting), patient).toEqual([2, 2, 2]);
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

  /** Locks a wallet in the database; resolves with what lets it go. */
  async function lockWallet(walletKey: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: service.books.databaseUrl });
    await client.connect();
    await client.query("BEGIN");
    const [ledgerId, callerKey] = walletKey.split(":");
    const locked = await client.query(
      "SELECT FROM wallets WHERE ledger_id = $1 AND caller_key = $2 FOR UPDATE",
      [ledgerId, callerKey],
    );
    expect(locked.rowCount).toBe(1);
    return () => client.end();
  }

  /**
   * How long a connection goes unheard after the answer to its write, in ms, while a crowd waits behind it for a
   * wallet that is locked.
   */
  async function unheardMs(header: string): Promise<number> {
    const ledgerId = await service.books.createLedger();
    const [key, crowdKey] = [newKey(service, ledgerId), newKey(service, ledgerId)];
    for (const made of [key, crowdKey]) accepted(await move(service, made, "credit", 1));
    const { socket, answers } = await open(service.port);
    const crowd = await Promise.all(
      Array.from({ length: crowdMin + 50 }, () => open(service.port)),
    );
    const letGo = [await lockWallet(key), await lockWallet(crowdKey)];
    try {
      socket.write(creditOf(key).toString("latin1").replace("\r\n", `\r\n${header}`));
      await expect.poll(waiting, { timeout: 3_000 }).toBe(1);
      for (const member of crowd) member.socket.write(creditOf(crowdKey));
      await expect.poll(waiting, { timeout: 3_000 }).toBe(crowd.length + 1);
      await letGo.shift()?.();
      await expect.poll(answers, { timeout: 10_000 }).toBe(1);
      const askedMs = performance.now();
      socket.write(health);
      await once(socket, "data");
      return performance.now() - askedMs;
    } finally {
      for (const end of letGo) await end();
      const answered = () => crowd.filter((member) => member.answers() === 1).length;
      await expect.poll(answered, { timeout: 15_000 }).toBe(crowd.length);
    }
  }

  test("takes every write of all of them, each of which is answered", async () => {
    const key = newKey(service);
    // More than are heard at once, and too few to be turned away.
    const writers = 900;
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

  test("hears its writers in turn, and a proxy's connection at once", async () => {
    const own = await unheardMs("");
    const passedOn = await unheardMs("X-Forwarded-For: 192.0.2.1\r\n");
    expect(own).toBeGreaterThan(500);
    expect(passedOn).toBeLessThan(own);
  });
});

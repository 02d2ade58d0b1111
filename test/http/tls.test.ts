// The API over TLS: what holds on plain connections holds on encrypted ones.
import { once } from "node:events";
import { connect } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { authority, certificate, openTls, otherCertificate } from "../support/certificates.ts";
import { isCluster } from "../support/cluster.ts";
import { entriesPath, entry, listEntries, postEntry } from "../support/entries.ts";
import { sampleOf } from "../support/metrics.ts";
import { countRows, lockWaiters } from "../support/rows.ts";
import { serveBooks, startService } from "../support/service.ts";
import { sendBytes, signedRequestBytes } from "../support/signed-request.ts";
import { countSleepers, slowDown, speedUp } from "../support/slow-tables.ts";
import { signedHeaders, streamTarget } from "../support/stream-reader.ts";
import { move, newKey } from "../support/wallets.ts";

const service = serveBooks({ certificate });

const health = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
const post = (body: object = entry(), ledgerId = service.books.ledgerId) =>
  signedRequestBytes({
    credentials: service.books.credentials,
    target: entriesPath(ledgerId),
    body: JSON.stringify(body),
  });
const get = (target: string) =>
  signedRequestBytes({ credentials: service.books.credentials, target });
const statusesOf = (answers: string[]) => answers.map((answer) => Number(answer.slice(9, 12)));

describe("an encrypted connection", () => {
  test("speaks HTTP/1.1, in TLS 1.2 and 1.3", async () => {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const ALPNProtocols = ["h2", "http/1.1"];
      const { socket, answers } = await openTls(service.port, {
        minVersion: version,
        maxVersion: version,
        ALPNProtocols,
      });
      expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, "http/1.1"]);
      socket.end(health);
      await once(socket, "close");
      expect(statusesOf(answers())).toEqual([200]);
    }
  });

  test.each<[string, ConnectionOptions, RegExp]>([
    ["HTTP/2 alone", { ALPNProtocols: ["h2"] }, /_ALERT_NO_APPLICATION_PROTOCOL$/],
    [
      "TLS 1.1",
      { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
      /_ALERT_PROTOCOL_VERSION$/,
    ],
    ["a large finite field", { ecdhCurve: "ffdhe8192" }, /_ALERT_HANDSHAKE_FAILURE$/],
  ])("does not come about for a client of %s", async (_name, options, code) => {
    await expect(openTls(service.port, options)).rejects.toMatchObject({
      code: expect.stringMatching(code) as string,
    });
  });

  test("is kept for many requests, and in order", async () => {
    const ledgerId = await service.books.createLedger();
    const { socket, answers } = await openTls(service.port);
    const many = 20;
    socket.write(Buffer.concat(Array.from({ length: many }, () => post(entry(), ledgerId))));
    await expect.poll(answers).toHaveLength(many);
    socket.end(post(entry(), ledgerId));
    await once(socket, "close");
    expect(statusesOf(answers())).toEqual(Array(many + 1).fill(201));
    expect((await listEntries(service, "", ledgerId)).total).toBe(many + 1);
  });

  test("carries a body of many records that comes with the end of the handshake", async () => {
    const description = "x".repeat(1_000);
    const lines = Array.from({ length: 800 }, (_, index) => ({
      glAccountCode: "1000",
      functionalAmount: String(index % 2 === 0 ? 1 : -1),
      description,
    }));
    const bytes = post({ lines });
    expect(bytes.length).toBeGreaterThan(800_000);
    const opened = openTls(service.port);
    const { socket, answers } = await opened;
    socket.write(bytes);
    await expect.poll(() => statusesOf(answers())).toEqual([201]);
    socket.destroy();
  });

  test("closes its client's side, and the answers still come", async () => {
    const { socket, answers } = await openTls(service.port, { allowHalfOpen: true });
    socket.end(Buffer.concat([post(), post(), get("/v1/ledgers")]));
    await once(socket, "close");
    expect(statusesOf(answers())).toEqual([201, 201, 200]);
  });

  test("is told what is no HTTP", async () => {
    const { socket, answers } = await openTls(service.port);
    socket.write("GET /v1/wallets/a HTTP/1.1\r\nno header\r\n\r\n");
    await once(socket, "close");
    expect(answers().join("")).toMatch(/^HTTP\/1\.1 400 [^]*\{"error":"[^"]+"\}$/);
  });

  test("is counted from its first byte to its end", async () => {
    const counting = await startService(service.books, { certificate });
    const connections = async () => {
      const { text } = await counting.send({ target: "/metrics", credentials: null });
      return sampleOf(text, "ledgerctl_http_connections");
    };
    expect(await connections()).toBe(1);
    const encrypted = await openTls(counting.port);
    const silent = connect(counting.port, "127.0.0.1");
    await expect.poll(connections).toBe(3);
    silent.destroy();
    encrypted.socket.destroy();
    await expect.poll(connections).toBe(1);
    await counting.stop();
  });
});

describe("plain HTTP where TLS is spoken", () => {
  test("is told so, in the form of its path", async () => {
    const answer = await sendBytes(service.port, get("/v1/ledgers"));
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*https:\/\//);
    const wallet = await sendBytes(service.port, get("/v1/wallets/a/balance"));
    expect(wallet).toMatch(/\{"error":"TLS is spoken here[^"]*"\}$/);
  });

  test("or anything else that is no TLS is closed", async () => {
    for (const bytes of ["\0", "x", "\x16\x03\x01\x00\x04nope"]) {
      const socket = connect(service.port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.resume();
      socket.write(bytes, "latin1");
      await once(socket, "close");
    }
    expect((await service.get("/v1/ledgers")).status).toBe(200);
  });
});

test("a handshake that does not end is cut, however it drips", async () => {
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  // The head of a record that is longer than what ever comes of it.
  socket.write("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "latin1");
  const drip = setInterval(() => socket.write("\x03"), 500);
  await once(socket, "close");
  clearInterval(drip);
});

describe("streams", () => {
  test("are opened and read", async () => {
    const key = newKey(service);
    const target = streamTarget(key, 0);
    const headers = signedHeaders(service.books.credentials, target);
    const url = `wss://127.0.0.1:${service.port}${target}`;
    const socket = new WebSocket(url, { headers, ca: authority });
    const messages: string[] = [];
    socket.on("message", (data: Buffer) => messages.push(data.toString()));
    await once(socket, "open");
    for (let count = 0; count < 3; count += 1) await move(service, key, "credit", 5);
    await expect.poll(() => messages.at(-1)).toContain('"balance":"15"');
    socket.close();
    await once(socket, "close");
  });

  test("are what upgrades are for: others are answered as requests", async () => {
    const { socket, answers } = await openTls(service.port);
    const upgrade = "Connection: Upgrade\r\nUpgrade: other\r\n\r\n";
    socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n${upgrade}`);
    await expect.poll(answers).toHaveLength(1);
    socket.end(health);
    await once(socket, "close");
    expect(statusesOf(answers())).toEqual([200, 200]);
  });
});

// A view can't take the place of a table that is spread.
describe.skipIf(isCluster)("a client that is gone", () => {
  test.each(["destroy", "resetAndDestroy"] as const)(
    "by %s has nothing done for it any more",
    async (leave) => {
      const { books } = service;
      await postEntry(service, entry());
      await slowDown(books, "journal_lines", 3_600);
      const raw = connect(service.port, "127.0.0.1");
      await once(raw, "connect");
      const { socket } = await openTls(service.port, { socket: raw });
      socket.write(get(`/v1/ledgers/${books.ledgerId}/trial-balance`));
      await expect.poll(() => countSleepers(books)).toBeGreaterThan(0);
      raw[leave]();
      await expect.poll(() => countSleepers(books)).toBe(0);
      await speedUp(books, "journal_lines");
    },
  );

  test("and one that closed its side only are told apart", async () => {
    const { books } = service;
    await slowDown(books, "journal_lines", 2);
    const { socket, answers } = await openTls(service.port, { allowHalfOpen: true });
    socket.end(get(`/v1/ledgers/${books.ledgerId}/trial-balance`));
    await once(socket, "close");
    await speedUp(books, "journal_lines");
    const statuses = statusesOf(answers());
    expect([statuses[0], statuses.at(-1)]).toEqual([102, 200]);
  });
});

describe("more connections than the server takes", () => {
  test("are answered 503, encrypted too", async () => {
    const variables = { LEDGERCTL_CONNECTIONS_MAX: "2" };
    const small = await startService(service.books, { certificate, variables });
    const others = [await openTls(small.port), await openTls(small.port)];
    const { socket, answers } = await openTls(small.port);
    socket.write(get("/v1/ledgers"));
    await once(socket, "close");
    expect(answers().join("")).toMatch(/^HTTP\/1\.1 503 [^]*^connection: close\r$/im);
    for (const { socket: other } of others) other.destroy();
    await small.stop();
  });
});

describe("another certificate", () => {
  test("is shown to new connections, and old ones go on", async () => {
    const renewed = await startService(service.books, { certificate });
    const before = await openTls(renewed.port);
    renewed.useCertificate(otherCertificate);
    const after = await openTls(renewed.port, { servername: "ledger.example.com" });
    expect(before.socket.getPeerCertificate().subject.CN).toBe("localhost");
    expect(after.socket.getPeerCertificate().subject.CN).toBe("ledger.example.com");
    for (const { socket, answers } of [before, after]) {
      socket.end(health);
      await once(socket, "close");
      expect(statusesOf(answers())).toEqual([200]);
    }
    await renewed.stop();
  });
});

describe("a server that stops", () => {
  const stopping = () =>
    startService(service.books, { certificate, variables: { LEDGERCTL_GRACE_MS: "60000" } });

  test("answers what crosses the stop, and closes", async () => {
    const stopped = await stopping();
    const connections = await Promise.all(Array.from({ length: 3 }, () => openTls(stopped.port)));
    const closed = connections.map(({ socket }) => once(socket, "close"));
    const end = stopped.stop();
    for (const { socket } of connections) socket.write(post());
    await Promise.all(closed);
    await end;
    for (const { answers } of connections) {
      expect(answers().join("")).toMatch(/^HTTP\/1\.1 201 [^]*^connection: close\r$/im);
    }
  });

  test("waits for a request under way, but not for handshakes", async () => {
    const stopped = await stopping();
    const { ledgerId, databaseUrl } = service.books;
    const busy = await openTls(stopped.port);
    // One that has sent nothing, one in the middle of its handshake, and one that has asked nothing after it.
    const silent = connect(stopped.port, "127.0.0.1");
    const half = connect(stopped.port, "127.0.0.1");
    half.write("\x16\x03\x01", "latin1");
    const idle = await openTls(stopped.port);
    const waiting = [silent, half, idle.socket];
    for (const socket of waiting) socket.on("error", () => undefined);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query("BEGIN");
    await client.query("SELECT FROM journal_heads WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
    busy.socket.write(post());
    await expect.poll(() => countRows(service, lockWaiters)).toBeGreaterThan(0);
    const end = stopped.stop();
    await Promise.all(waiting.map((socket) => once(socket, "close")));
    expect(busy.answers()).toEqual([]);
    const closed = once(busy.socket, "close");
    await client.end();
    await closed;
    expect(statusesOf(busy.answers())).toEqual([201]);
    await end;
  });
});

// Methods, bodies, request ids and HTTP that is broken, before anything of the books is met.
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { entriesPath, entry, listEntries, problem } from "../support/entries.ts";
import { sendBytes } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const bodyBytesMax = 1024 * 1024;

describe("a wrong method", () => {
  const id = "0190b6a0-0000-7000-8000-000000000001";
  test.each([
    ["/v1/ledgers", "GET"],
    [`/v1/ledgers/${id}`, "GET"],
    [`/v1/ledgers/${id}/accounts`, "POST, GET"],
    [`/v1/ledgers/${id}/balances`, "GET"],
    [`/v1/ledgers/${id}/journal-entries`, "POST, GET"],
    [`/v1/ledgers/${id}/journal-entries/${id}`, "GET"],
    [`/v1/ledgers/${id}/journal-entries/${id}/reversal`, "POST"],
    ["/healthz", "GET"],
    ["/readyz", "GET"],
    ["/openapi.json", "GET"],
    ["/docs", "GET"],
  ])("of %s is 405 and says what is allowed", async (target, allow) => {
    const allowed = allow.split(", ").sort();
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "QUERY", "PURGE"];
    for (const method of methods.filter((name) => !allowed.includes(name))) {
      const reply = await service.send({ target, method, credentials: null });
      expect(reply.status, method).toBe(405);
      expect(String(reply.headers["allow"]).split(", ").sort()).toEqual(allowed);
      expect(reply.headers["x-request-id"]).toMatch(requestId);
      if (method === "HEAD") continue;
      expect(problem(reply)).toMatchObject({ status: 405, title: "Method not allowed" });
      expect(problem(reply).code).toBeUndefined();
      const verb = allowed.length === 1 ? "is" : "are";
      expect(problem(reply).detail).toMatch(new RegExp(`^only .* ${verb} answered here$`));
    }
  });
});

describe("a body", () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify(entry());
    return text + " ".repeat(bytes - text.length);
  };

  test("may have 1 MiB and no byte more", async () => {
    const path = entriesPath(service.books.ledgerId);
    expect((await service.post(path, padded(bodyBytesMax))).status).toBe(201);
    const reply = await service.post(path, padded(bodyBytesMax + 1));
    expect(reply.status).toBe(413);
    expect(problem(reply)).toMatchObject({ status: 413, title: "Body too large" });
    expect(reply.headers["x-request-id"]).toMatch(requestId);
    expect((await listEntries(service)).total).toBe(1);
  });

  test("is cut off at 1 MiB where its length was not said", async () => {
    const reply = await service.send({
      target: entriesPath(service.books.ledgerId),
      body: padded(bodyBytesMax + 1),
      headers: { "content-length": undefined, "transfer-encoding": "chunked" },
    });
    expect(reply.status).toBe(413);
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "Application/JSON ; charset=utf8",
    "application/json; profile=x",
  ])("is JSON when it says so: %s", async (type) => {
    const reply = await service.send({
      target: entriesPath(service.books.ledgerId),
      body: JSON.stringify(entry()),
      headers: { "content-type": type },
    });
    expect(reply.status).toBe(201);
  });

  test.each([
    undefined,
    "",
    "text/plain",
    "application/jsonp",
    "application/json+x",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=iso-8859-1",
    "application/json, application/json",
    "json",
    "}{",
  ])("is not JSON when it says so or nothing: %s", async (type) => {
    const reply = await service.send({
      target: entriesPath(service.books.ledgerId),
      body: JSON.stringify(entry()),
      headers: { "content-type": type },
    });
    expect(reply.status).toBe(415);
    expect(problem(reply)).toMatchObject({ status: 415, title: "Unsupported media type" });
  });

  test("is not JSON when it is compressed", async () => {
    const reply = await service.send({
      target: entriesPath(service.books.ledgerId),
      body: JSON.stringify(entry()),
      headers: { "content-encoding": "gzip" },
    });
    expect(reply.status).toBe(415);
  });
});

describe("X-Request-Id", () => {
  test("is on every response, new for each", async () => {
    const { ledgerId } = service.books;
    const replies = await Promise.all([
      service.get("/v1/ledgers"),
      service.get("/v1/nothing"),
      service.get("/v1/wallets/x"),
      service.send({ target: "/v1/ledgers", credentials: null }),
      service.send({ target: "/v1/ledgers", method: "DELETE" }),
      service.post(entriesPath(ledgerId), entry()),
      service.post(entriesPath(ledgerId), "{"),
      service.post(entriesPath(ledgerId), "x".repeat(bodyBytesMax + 1)),
      service.get("/healthz"),
      service.get("/readyz"),
      service.get("/docs"),
      service.get("/openapi.json"),
      service.get("/v1/%zz"),
    ]);
    const ids = replies.map(({ headers }) => String(headers["x-request-id"]));
    for (const id of ids) expect(id).toMatch(requestId);
    expect(new Set(ids).size).toBe(replies.length);
  });

  test("is the server's own, whatever the client sends", async () => {
    const headers = { "x-request-id": "mine", "request-id": "mine" };
    const reply = await service.send({ target: "/healthz", headers });
    expect(reply.headers["x-request-id"]).toMatch(requestId);
  });
});

describe("broken HTTP", () => {
  const get = "GET /healthz HTTP/1.1\r\n";
  test.each([
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["a method in lower case", "get /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a method that there is not", "BREW /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a version that there is not", "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n", 400],
    ["a target with raw UTF-8", "GET /v1/ü HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["headers over 16 KiB", `${get}Host: a\r\nX: ${"y".repeat(17_000)}\r\n\r\n`, 431],
    ["a target over 16 KiB", `GET /${"y".repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["two lengths", `${get}Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    [
      "a length and chunks",
      `${get}Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["a broken chunk", `${get}Host: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ["no Host", `${get}\r\n`, 400],
    ["two Hosts", `${get}Host: a\r\nHost: b\r\n\r\n`, 400],
    ["the same Host twice", `${get}Host: a\r\nHost: a\r\n\r\n`, 400],
    ["a Host with nothing, and another", `${get}Host:\r\nHost: a\r\n\r\n`, 400],
    ["a Host that is a URL", `${get}Host: http://a/\r\n\r\n`, 400],
    ["two Hosts under HTTP/1.0", "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400],
    [
      "a coding beside chunks",
      `${get}Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "a coding in a line of its own",
      `${get}Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "an expectation that nobody knows",
      `${get}Host: a\r\nExpect: x\r\nConnection: close\r\n\r\n`,
      417,
    ],
  ])("is answered with a problem and a request id: %s", async (_, bytes, status) => {
    const answer = await sendBytes(service.port, bytes);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const id = /^x-request-id: (\S+)/im.exec(head)?.[1];
    expect(id).toMatch(requestId);
    expect(head).toMatch(/^content-type: application\/problem\+json/im);
    expect(JSON.parse(body)).toMatchObject({ status, instance: `urn:request:${String(id)}` });
  });

  const credit = "POST /v1/wallets/x:y/credit HTTP/1.1\r\n";

  /** Sends pieces, each once the one before has been read, and resolves with the last answer. */
  async function sendPieces(...pieces: readonly string[]): Promise<{ head: string; body: string }> {
    const socket = connect(service.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
    const closed = once(socket, "close");
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      // What came before it on another connection is read by then.
      await service.get("/healthz");
    }
    await closed;
    const [head = "", body = ""] = text.slice(text.lastIndexOf("HTTP/1.1 ")).split("\r\n\r\n");
    return { head, body };
  }

  const balance = "GET /v1/wallets/x:y/balance HTTP/1.1\r\nHost: a\r\n";
  test.each<[string, string[]]>([
    ["a header, in a second packet", [credit, "Host: a\r\nno header\r\n\r\n"]],
    ["a header, in a third packet", [`${credit}Host: a\r\n`, "X: y\r\n", "no header\r\n\r\n"]],
    ["a header, in a second packet of a later request", [`${balance}\r\n`, balance, "x\r\n\r\n"]],
    [
      "a method, behind another request",
      ["GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "get /v1/wallets/x:y/balance HTTP/1.1\r\n\r\n"],
    ],
    [
      "a method, in one packet with requests of other kinds",
      [
        "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nget /v1/wallets/x:y/balance HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
      ],
    ],
    [
      "a method, behind a body",
      [
        "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}post /v1/wallets/x:y/credit HTTP/1.1\r\n\r\n",
      ],
    ],
  ])("has one member on a wallet path: %s", async (_, pieces) => {
    const { head, body } = await sendPieces(...pieces);
    expect(head).toMatch(/^HTTP\/1\.1 400 [^]*^content-type: application\/json/im);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) as string });
  });

  test("is a problem on another path behind a request to a wallet", async () => {
    const { head } = await sendPieces(`${balance}\r\n`, "get /v1/ledgers HTTP/1.1\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 [^]*^content-type: application\/problem\+json/im);
  });

  test.each([
    ["a method in lower case", "post /v1/wallets/x:y/credit HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a target with raw UTF-8", "GET /v1/wallets/x:ü/balance HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["headers over 16 KiB", `${credit}Host: a\r\nX: ${"y".repeat(17_000)}\r\n\r\n`, 431],
    ["a broken chunk", `${credit}Host: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ["no Host", `${credit}\r\n`, 400],
    ["two Hosts", `${credit}Host: a\r\nHost: b\r\n\r\n`, 400],
    [
      "a coding beside chunks",
      `${credit}Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "an expectation that nobody knows",
      `${credit}Host: a\r\nExpect: x\r\nConnection: close\r\n\r\n`,
      417,
    ],
  ])("has one member and a request id on a wallet path: %s", async (_, bytes, status) => {
    const answer = await sendBytes(service.port, bytes);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(/^x-request-id: (\S+)/im.exec(head)?.[1]).toMatch(requestId);
    expect(head).toMatch(/^content-type: application\/json/im);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) as string });
  });

  test.each([
    "a",
    "ledger.example.com:8420",
    "127.0.0.1",
    "[::1]:8420",
    "[fe80::1]",
    "a_b",
    "A%2db",
    "",
  ])("does not lie in a Host such as '%s', nor in chunks", async (host) => {
    const bytes = `${get}Host: ${host}\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`;
    expect(await sendBytes(service.port, bytes)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("does not take the server down when the client goes away in the middle", async () => {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(service.port, "127.0.0.1", () => {
        socket.write(
          `POST ${entriesPath(service.books.ledgerId)} HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{`,
          () => socket.resetAndDestroy(),
        );
      });
      socket.on("error", reject);
      socket.on("close", () => {
        resolve();
      });
    });
    expect((await service.get("/healthz")).status).toBe(200);
  });
});

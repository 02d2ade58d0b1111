// Who gets a stream: upgrades are refused as plain HTTP, in the shape and order of every wallet path.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { nowSeconds, sign } from "../support/signed-request.ts";
import {
  openStream,
  refusedUpgrade,
  sendUpgrade,
  signedHeaders,
  streamTarget,
} from "../support/stream-reader.ts";
import { accepted, move, newKey, refusal, walletPath } from "../support/wallets.ts";

const service = serveBooks();

function signed(target: string, method = "GET"): Record<string, string> {
  return signedHeaders(service.books.credentials, target, method);
}

describe("an upgrade is refused", () => {
  test("with 401 and one body for every fault of the credentials", async () => {
    const target = streamTarget(newKey(service));
    const { apiKey, apiSecret } = service.books.credentials;
    const timestamp = String(nowSeconds() - 301);
    const late = sign(apiSecret, { timestamp, method: "GET", target, body: "" });
    const faulty: Record<string, string>[] = [
      {},
      { ...signed(target), authorization: "Bearer lk_unknownunknownunknownu" },
      { ...signed(target), "x-signature": "0".repeat(64) },
      signed(`${target}?since=0`),
      signed(target, "POST"),
      { ...signed(target), "x-timestamp": timestamp, "x-signature": late },
      { authorization: `Bearer ${apiKey}` },
    ];
    for (const headers of faulty) {
      const reply = await refusedUpgrade(service, target, headers);
      expect(refusal(reply, 401)).toMatch(/API key or the signature/);
      expect(reply.headers["www-authenticate"]).toBe("Bearer");
      expect(reply.headers.connection).toBe("close");
    }
  });

  test.each(["authorization", "x-timestamp", "x-signature"])(
    "with 401 where %s is sent twice",
    async (name) => {
      const target = streamTarget(newKey(service));
      const headers = signed(target);
      const twice = { ...headers, [name.toUpperCase()]: headers[name] ?? "" };
      refusal(await refusedUpgrade(service, target, twice), 401);
    },
  );

  test("with 400 where Host is sent twice", async () => {
    const target = streamTarget(newKey(service));
    const reply = await refusedUpgrade(service, target, { ...signed(target), Host: "b" });
    expect(refusal(reply, 400)).toContain("one Host");
  });

  test("with 401 for a query that was not signed", async () => {
    const target = streamTarget(newKey(service));
    refusal(await refusedUpgrade(service, `${target}?since=0`, signed(target)), 401);
  });

  test("with 404 where the ledger is unknown, foreign or no UUID", async () => {
    const organizationId = await service.books.createOrganization();
    const foreign = await service.books.createLedger({ organizationId });
    for (const ledgerId of [randomUUID(), foreign, "no-uuid", ""]) {
      const target = streamTarget(`${ledgerId}:x`);
      const reply = await refusedUpgrade(service, target, signed(target));
      expect(refusal(reply, 404)).toBe("there is no such ledger");
    }
  });

  test("with 403 where the key can't read", async () => {
    const credentials = await service.books.createKey({ scopes: ["wallets:write"] });
    const target = streamTarget(newKey(service));
    const reply = await refusedUpgrade(service, target, signedHeaders(credentials, target));
    expect(refusal(reply, 403)).toContain("read");
  });

  test("with 400 where the wallet key or `since` is faulty", async () => {
    const { ledgerId } = service.books;
    const targets = [
      streamTarget(`${ledgerId}:`),
      streamTarget("no-colon"),
      streamTarget(`${ledgerId}:a\u0001`),
      streamTarget(`${ledgerId}:${"x".repeat(257)}`),
      ...["-1", "x", "", "1.5", "9007199254740992", "1&since=2"].map((since) =>
        streamTarget(newKey(service), since),
      ),
    ];
    for (const target of targets) {
      refusal(await refusedUpgrade(service, target, signed(target)), 400);
    }
  });

  test("with 426 and Upgrade where it asks for something else", async () => {
    const target = streamTarget(newKey(service));
    const reply = await refusedUpgrade(service, target, { ...signed(target), upgrade: "h2c" });
    refusal(reply, 426);
    expect(reply.headers.upgrade).toBe("websocket");
  });

  test("with 401 and 404 before 426", async () => {
    const target = streamTarget(newKey(service));
    refusal(await refusedUpgrade(service, target, { upgrade: "h2c" }), 401);
    const unknown = streamTarget(`${randomUUID()}:x`);
    const headers = { ...signed(unknown), upgrade: "h2c" };
    refusal(await refusedUpgrade(service, unknown, headers), 404);
  });

  test("with 405 where the method is not GET", async () => {
    const target = streamTarget(newKey(service));
    const headers = { ...signed(target, "POST"), "content-length": "0" };
    const reply = await refusedUpgrade(service, target, headers, "POST");
    refusal(reply, 405);
    expect(reply.headers.allow).toBe("GET");
  });

  test("with 400 where the handshake is no WebSocket's", async () => {
    const target = streamTarget(newKey(service));
    for (const fault of [
      { "sec-websocket-key": "short" },
      { "sec-websocket-version": "7" },
      { "sec-websocket-protocol": "a,,b" },
    ]) {
      refusal(await refusedUpgrade(service, target, { ...signed(target), ...fault }), 400);
    }
  });

  test("with 404 in each path's own shape where there is no stream", async () => {
    const key = newKey(service);
    for (const target of [`${walletPath(key, "ws")}/x`, walletPath(key, "wss"), "/v1/wallets/"]) {
      refusal(await refusedUpgrade(service, target, signed(target)), 404);
    }
    const reply = await refusedUpgrade(service, "/v1/nothing", signed("/v1/nothing"));
    expect(reply.status).toBe(404);
    expect(reply.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  });
});

describe("a GET of the stream's path without an upgrade", () => {
  test("is 426 with Upgrade, after 401 and 404", async () => {
    const target = streamTarget(newKey(service));
    const reply = await service.get(target);
    refusal(reply, 426);
    expect(reply.headers.upgrade).toBe("websocket");
    refusal(await service.send({ target, credentials: null }), 401);
    refusal(await service.get(streamTarget(`${randomUUID()}:x`)), 404);
    refusal(await service.get(streamTarget(newKey(service), "x")), 400);
  });
});

test("a request that only offers an upgrade to HTTP/2 is answered as if it did not", async () => {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 5));
  const offer = {
    connection: "Upgrade, HTTP2-Settings, close",
    upgrade: "h2c",
    "http2-settings": "AAMAAABkAAQCAAAAAAIAAAAA",
  };
  const target = walletPath(key, "balance");
  const reply = await refusedUpgrade(service, target, { ...signed(target), ...offer });
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body).toEqual({ balance: "5", available: "5" });
});

test("a write that only offers an upgrade is made once, on a connection that goes on", async () => {
  const key = newKey(service);
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AA" };
  for (let total = 1; total <= 3; total += 1) {
    const body = JSON.stringify({ amount: "1", assetCode: "USD", metadata: "x".repeat(60_000) });
    const reply = await service.send({ target: walletPath(key, "credit"), body, headers });
    expect(accepted(reply).balance).toBe(String(total));
  }
});

test("a stream is granted whatever the case and escapes of its path", async () => {
  const key = newKey(service);
  const target = `/v1/wallets/${key.toUpperCase().replace("WALLET", "%77allet")}/ws`;
  const socket = sendUpgrade(service, target, signed(target));
  const [chunk] = (await new Promise<Buffer[]>((resolve) => {
    socket.once("data", (data: Buffer) => {
      resolve([data]);
    });
  })) as [Buffer];
  expect(chunk.toString()).toMatch(/^HTTP\/1\.1 101 /);
  expect(chunk.toString()).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/i);
  socket.destroy();
});

test("opening a stream of a wallet never written creates nothing", async () => {
  const key = newKey(service);
  const reader = await openStream(service, key, { since: 0 });
  const query = "SELECT 1 FROM wallets WHERE caller_key = $1";
  expect(await countRows(service, query, [key.slice(37)])).toBe(0);
  await reader.end();
  expect(reader.messages).toEqual([]);
});

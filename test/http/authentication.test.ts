// Requests that are properly signed, and those that are not.
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { entriesPath, entry, listEntries } from "../support/entries.ts";
import { nowSeconds, sign, type Reply, type RequestParts } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const target = "/v1/ledgers";

function signatureOf(parts: Partial<Parameters<typeof sign>[1]> & { timestamp: string }): string {
  const { apiSecret } = service.books.credentials;
  return sign(apiSecret, { method: "GET", target, body: "", ...parts });
}

function withSignature(change: (signature: string) => string): Partial<RequestParts> {
  const timestamp = String(nowSeconds());
  return { timestamp, headers: { "x-signature": change(signatureOf({ timestamp })) } };
}

function withTimestamp(timestamp: string): Partial<RequestParts> {
  const signature = signatureOf({ timestamp });
  return { headers: { "x-timestamp": timestamp, "x-signature": signature } };
}

const causes: Record<string, () => Partial<RequestParts>> = {
  "no headers at all": () => ({ credentials: null }),
  "no Authorization": () => ({ headers: { authorization: undefined } }),
  "an empty Authorization": () => ({ headers: { authorization: "" } }),
  "another scheme": () => ({
    headers: { authorization: `Basic ${service.books.credentials.apiKey}` },
  }),
  "no key behind Bearer": () => ({ headers: { authorization: "Bearer " } }),
  "a key that is none": () => ({ headers: { authorization: "Bearer lk_short" } }),
  "a key longer than any": () => ({
    credentials: {
      apiKey: `lk_${"A".repeat(8_000)}`,
      apiSecret: service.books.credentials.apiSecret,
    },
  }),
  "a key that nobody has": () => ({
    credentials: {
      apiKey: `lk_${randomBytes(16).toString("base64url")}`,
      apiSecret: service.books.credentials.apiSecret,
    },
  }),
  "the secret as the key": () => ({
    headers: { authorization: `Bearer ${service.books.credentials.apiSecret}` },
  }),
  "another secret": () => ({
    credentials: { apiKey: service.books.credentials.apiKey, apiSecret: `ls_${"A".repeat(43)}` },
  }),
  "the secret without its prefix": () => ({
    credentials: {
      apiKey: service.books.credentials.apiKey,
      apiSecret: service.books.credentials.apiSecret.slice("ls_".length),
    },
  }),
  "no X-Timestamp": () => ({ headers: { "x-timestamp": undefined } }),
  "no X-Signature": () => ({ headers: { "x-signature": undefined } }),
  "an empty signature": () => withSignature(() => ""),
  "a signature with one digit less": () => withSignature((text) => text.slice(1)),
  "a signature with two digits more": () => withSignature((text) => `${text}00`),
  "a signature that is no hex": () => withSignature((text) => `${text.slice(1)}g`),
  "a signature in base64": () =>
    withSignature((text) => Buffer.from(text, "hex").toString("base64")),
  "a signature with one bit changed": () =>
    withSignature((text) => (parseInt(text.slice(0, 1), 16) ^ 1).toString(16) + text.slice(1)),
  "a timestamp that is not signed": () => {
    const timestamp = String(nowSeconds());
    const signature = signatureOf({ timestamp: String(nowSeconds() - 10) });
    return { headers: { "x-timestamp": timestamp, "x-signature": signature } };
  },
  "a timestamp in milliseconds": () => withTimestamp(String(Date.now())),
  "a timestamp in ISO 8601": () => withTimestamp(new Date().toISOString()),
  "a timestamp with a sign": () => withTimestamp(`+${nowSeconds()}`),
  "a timestamp with a fraction": () => withTimestamp(`${nowSeconds()}.5`),
  "a timestamp over five minutes old": () => withTimestamp(String(nowSeconds() - 302)),
  "a timestamp over five minutes ahead": () => withTimestamp(String(nowSeconds() + 305)),
  "a signature for another method": () => {
    const timestamp = String(nowSeconds());
    return { timestamp, headers: { "x-signature": signatureOf({ timestamp, method: "POST" }) } };
  },
  "a signature for another target": () => {
    const timestamp = String(nowSeconds());
    const other = signatureOf({ timestamp, target: "/v1/ledgers?" });
    return { timestamp, headers: { "x-signature": other } };
  },
  "a signature for another body": () => {
    const timestamp = String(nowSeconds());
    return { timestamp, headers: { "x-signature": signatureOf({ timestamp, body: "{}" }) } };
  },
  "two signatures": () => {
    const timestamp = String(nowSeconds());
    const signature = signatureOf({ timestamp });
    return { timestamp, headers: { "x-signature": [signature, signature] } };
  },
  "two timestamps": () => {
    const timestamp = String(nowSeconds());
    const signature = signatureOf({ timestamp });
    return { headers: { "x-timestamp": [timestamp, timestamp], "x-signature": signature } };
  },
  "two Authorization headers": () => {
    const authorization = `Bearer ${service.books.credentials.apiKey}`;
    return { headers: { authorization: [authorization, authorization] } };
  },
  "two Authorization headers, of which the first is good": () => {
    const authorization = `Bearer ${service.books.credentials.apiKey}`;
    return { headers: { authorization: [authorization, "Basic eDp5"] } };
  },
};

describe("a request that is not properly signed", () => {
  test.each(Object.keys(causes))("is refused: %s", async (cause) => {
    const reply = await service.send({ target, ...causes[cause]?.() });
    expect(withoutId(reply)).toEqual({
      type: "about:blank",
      title: "Unauthorized",
      status: 401,
      detail: "the API key or the signature is missing, invalid or expired",
      instance: "urn:request:",
    });
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe("Bearer");
    expect(reply.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  });

  test("gets the same headers for every cause, so that nothing tells which", async () => {
    const names = await Promise.all(
      Object.values(causes).map(async (cause) => {
        const reply = await service.send({ target, ...cause() });
        return [...Object.keys(reply.headers), String(reply.headers["content-length"])].join();
      }),
    );
    expect(new Set(names).size).toBe(1);
  });

  test("writes nothing", async () => {
    const path = entriesPath(service.books.ledgerId);
    const headers = { "x-signature": "0".repeat(64) };
    const body = JSON.stringify(entry());
    expect((await service.send({ target: path, body, headers })).status).toBe(401);
    expect((await listEntries(service)).total).toBe(0);
  });
});

function withoutId(reply: Reply): unknown {
  const id = String(reply.headers["x-request-id"]);
  return JSON.parse(reply.text.replace(id, ""));
}

describe("a signature", () => {
  test("is accepted in upper case", async () => {
    const reply = await service.send({ target, ...withSignature((text) => text.toUpperCase()) });
    expect(reply.status).toBe(200);
  });

  test("is good for the whole window, early and late", async () => {
    for (const offset of [-295, 295]) {
      const timestamp = String(nowSeconds() + offset);
      expect((await service.send({ target, timestamp })).status).toBe(200);
    }
  });

  test("can be sent again while its timestamp is valid", async () => {
    const timestamp = String(nowSeconds());
    expect((await service.send({ target, timestamp })).status).toBe(200);
    expect((await service.send({ target, timestamp })).status).toBe(200);
  });

  test("covers the query as it is sent, in its order", async () => {
    const path = entriesPath(service.books.ledgerId);
    for (const query of ["?limit=10&offset=0", "?offset=0&limit=10", "?", "?limit=%31%30&x=a+b"]) {
      expect((await service.get(path + query)).status, query).toBe(200);
    }
    const timestamp = String(nowSeconds());
    const signature = signatureOf({ timestamp, target: `${path}?limit=10&offset=0` });
    const reordered = await service.send({
      target: `${path}?offset=0&limit=10`,
      timestamp,
      headers: { "x-signature": signature },
    });
    expect(reordered.status).toBe(401);
  });

  test("covers the target before it is decoded", async () => {
    const { ledgerId } = service.books;
    const encoded = `/v1/ledgers/%${ledgerId.charCodeAt(0).toString(16)}${ledgerId.slice(1)}`;
    const plain = `/v1/ledgers/${ledgerId}`;
    expect((await service.get(encoded)).body).toMatchObject({ id: ledgerId });
    const timestamp = String(nowSeconds());
    const headers = { "x-signature": signatureOf({ timestamp, target: plain }) };
    expect((await service.send({ target: encoded, timestamp, headers })).status).toBe(401);
  });

  test("covers the bytes of the body, not what they mean", async () => {
    const path = entriesPath(service.books.ledgerId);
    const timestamp = String(nowSeconds());
    const body = JSON.stringify(entry());
    const { apiSecret } = service.books.credentials;
    const signature = sign(apiSecret, { timestamp, method: "POST", target: path, body });
    const spaced = await service.send({
      target: path,
      body: `${body}\n`,
      timestamp,
      headers: { "x-signature": signature },
    });
    expect(spaced.status).toBe(401);
    expect((await service.send({ target: path, body: `\n ${body}\n` })).status).toBe(201);
  });

  test("covers the body of a GET too", async () => {
    const method = "GET";
    expect((await service.send({ target, method, body: "anything" })).status).toBe(200);
    const headers = { "x-signature": sign("ls_x", { timestamp: "1", method, target, body: "" }) };
    expect((await service.send({ target, method, body: "anything", headers })).status).toBe(401);
  });

  test("covers a body that comes in chunks", async () => {
    const reply = await service.send({
      target: entriesPath(service.books.ledgerId),
      body: JSON.stringify(entry()),
      headers: { "content-length": undefined, "transfer-encoding": "chunked" },
    });
    expect(reply.status).toBe(201);
  });

  test("is over the target in absolute form where that is what was sent", async () => {
    const absolute = `http://127.0.0.1:${service.port}/v1/ledgers`;
    expect((await service.get(absolute)).status).toBe(200);
    const timestamp = String(nowSeconds());
    const headers = { "x-signature": signatureOf({ timestamp }) };
    expect((await service.send({ target: absolute, timestamp, headers })).status).toBe(401);
  });
});

test("the scheme of Authorization is read without regard to case", async () => {
  const { apiKey } = service.books.credentials;
  for (const scheme of ["bearer", "BEARER"]) {
    const headers = { authorization: `${scheme} ${apiKey}` };
    expect((await service.send({ target, headers })).status).toBe(200);
  }
});

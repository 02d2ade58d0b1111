// Rate limits of API keys: the buckets by themselves, and what callers are told.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { LedgerClient, ServiceProblem } from "../../src/client/ledger-client.ts";
import { RateLimiter, shareOf, type TokenBucket } from "../../src/http/rate-limit.ts";
import { entriesPath, entry, listEntries, type Problem } from "../support/entries.ts";
import { sampleOf } from "../support/metrics.ts";
import { serveBooks, startService } from "../support/service.ts";
import { signedRequestBytes, type Credentials } from "../support/signed-request.ts";
import {
  openStream,
  refusedUpgrade,
  signedHeaders,
  streamTarget,
} from "../support/stream-reader.ts";
import { newKey, walletPath } from "../support/wallets.ts";

describe("a bucket", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 1_000_000;
  });
  const limiterOf = (perSecond: number, burst: number) =>
    new RateLimiter({ perSecond, burst }, () => nowMs);
  const takeAll = (bucket: TokenBucket): number => {
    for (let taken = 0; ; taken += 1) {
      try {
        bucket.take();
      } catch {
        return taken;
      }
    }
  };

  test("gives its burst at once, and then what comes in", () => {
    const bucket = limiterOf(10, 25).bucketOf("a");
    expect(takeAll(bucket)).toBe(25);
    nowMs += 99;
    expect(takeAll(bucket)).toBe(0);
    nowMs += 1;
    expect(takeAll(bucket)).toBe(1);
    nowMs += 60_000;
    expect(takeAll(bucket)).toBe(25);
  });

  test("lets no more through than the rate, however the requests come", () => {
    const bucket = limiterOf(7, 3).bucketOf("a");
    let taken = takeAll(bucket);
    for (let step = 0; step < 10_000; step += 1) {
      nowMs += (step * 37) % 101;
      taken += takeAll(bucket);
    }
    expect(taken).toBeLessThanOrEqual(3 + ((nowMs - 1_000_000) / 1000) * 7);
    expect(taken).toBeGreaterThan(((nowMs - 1_000_000) / 1000) * 7 - 3);
  });

  test("goes into debt for the items of a bulk, which the requests after it wait for", () => {
    const bucket = limiterOf(10, 5).bucketOf("a");
    expect(bucket.take(() => 1_000)).toBe(1_000);
    expect(bucket.headers().ratelimit).toBe('"default";r=0;t=100');
    nowMs += 99_500;
    expect(takeAll(bucket)).toBe(0);
    nowMs += 100;
    expect(takeAll(bucket)).toBe(1);
  });

  test("has back what is given back, and no more than its burst", () => {
    const bucket = limiterOf(10, 5).bucketOf("a");
    bucket.take(() => 1_000);
    bucket.giveBack(997);
    expect(takeAll(bucket)).toBe(2);
    bucket.giveBack(100);
    expect(takeAll(bucket)).toBe(5);
  });

  test("says after how many whole seconds there is a token", () => {
    const bucket = limiterOf(0.25, 1).bucketOf("a");
    bucket.take();
    nowMs += 500;
    expect(() => {
      bucket.take();
    }).toThrow(expect.objectContaining({ problem: "rateLimited", retryAfterSeconds: 4 }));
  });

  test.each([
    [100, 100, '"default";q=100;w=1', '"default";r=99;t=1'],
    [100, 500, '"default";q=500;w=5', '"default";r=499;t=1'],
    [100, 10, '"default";q=100;w=1', '"default";r=9;t=1'],
    [2.5, 2.5, '"default";q=2;w=1', '"default";r=1;t=1'],
    [0.25, 1, '"default";q=1;w=4', '"default";r=0;t=4'],
  ])("of %d a second and %d at once is described as %s", (perSecond, burst, policy, state) => {
    const bucket = limiterOf(perSecond, burst).bucketOf("a");
    bucket.take();
    expect(bucket.headers()).toEqual({ "ratelimit-policy": policy, ratelimit: state });
  });

  test("belongs to one key, and ten thousand of them are kept", () => {
    const limiter = limiterOf(1, 1);
    takeAll(limiter.bucketOf("first"));
    expect(takeAll(limiter.bucketOf("second"))).toBe(1);
    expect(takeAll(limiter.bucketOf("first"))).toBe(0);
    for (let key = 0; key < 10_000; key += 1) limiter.bucketOf(`key-${key}`);
    expect(takeAll(limiter.bucketOf("first"))).toBe(1);
  });

  test("of one of several processes has its part, and always a token", () => {
    expect(shareOf({ perSecond: 100, burst: 200 }, 4)).toEqual({ perSecond: 25, burst: 50 });
    expect(shareOf({ perSecond: 1, burst: 2 }, 4)).toEqual({ perSecond: 0.25, burst: 1 });
  });
});

describe("a key", () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const burst = 5;
  // Nothing comes in while a test runs.
  const service = serveBooks({
    rateLimit: { perSecond: 1 / 3_600, burst },
    log: pino({ level: "warn" }, destination),
  });

  /** A key that has so many tokens left. */
  async function keyWith(tokens: number): Promise<Credentials> {
    const credentials = await service.books.createKey();
    for (let spent = tokens; spent < burst; spent += 1) {
      const reply = await service.send({ target: "/v1/ledgers", credentials });
      expect(reply.status).toBe(200);
    }
    return credentials;
  }

  test("is told on each answer what is left, and 429 when nothing is", async () => {
    const credentials = await keyWith(2);
    const last = await service.send({ target: "/v1/ledgers", credentials });
    expect(last.headers).toMatchObject({
      "ratelimit-policy": '"default";q=5;w=18000',
      ratelimit: expect.stringMatching(/^"default";r=1;t=\d+$/) as string,
    });
    const refused = await service.send({ target: "/v1/ledgers/none", credentials });
    expect(refused.status).toBe(404);
    expect(refused.headers["ratelimit"]).toMatch(/r=0/);
    const target = entriesPath(service.books.ledgerId);
    const body = JSON.stringify(entry());
    const over = await service.send({ target, body, credentials });
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({ type: "about:blank", title: "Too many requests" });
    expect((over.body as Problem).code).toBeUndefined();
    const retryAfter = String(over.headers["retry-after"]);
    expect(Number(retryAfter)).toBeGreaterThan(3_500);
    expect(over.headers["ratelimit"]).toBe(`"default";r=0;t=${retryAfter}`);
    expect(over.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    // Another key of the same organization has its own.
    expect((await service.send({ target, body, credentials: await keyWith(5) })).status).toBe(201);
    expect((await listEntries(service)).total).toBe(1);
  });

  test("is told on wallets' paths in their form", async () => {
    const credentials = await keyWith(0);
    const target = walletPath(newKey(service), "balance");
    const { status, body } = await service.send({ target, credentials });
    expect(status).toBe(429);
    expect(Object.keys(body as object)).toEqual(["error"]);
  });

  test("loses no token to a stranger", async () => {
    const credentials = await keyWith(1);
    const stranger = { ...credentials, apiSecret: `ls_${"A".repeat(43)}` };
    for (let tries = 0; tries < 10; tries += 1) {
      const reply = await service.send({ target: "/v1/ledgers", credentials: stranger });
      expect(reply.status).toBe(401);
      expect(reply.headers["ratelimit"]).toBeUndefined();
    }
    expect((await service.send({ target: "/v1/ledgers", credentials })).status).toBe(200);
  });

  test("is told so after what a stranger is told, and before all else", async () => {
    const credentials = await keyWith(0);
    const wrongSecret = { ...credentials, apiSecret: `ls_${"A".repeat(43)}` };
    const target = entriesPath(randomUUID());
    const body = "{";
    const statusOf = async (parts: object) =>
      (await service.send({ target, body, credentials, ...parts })).status;
    expect(await statusOf({ target: "/v1/nothing" })).toBe(404);
    expect(await statusOf({ method: "PUT" })).toBe(405);
    expect(await statusOf({ body: "x".repeat(1024 * 1024 + 1) })).toBe(413);
    expect(await statusOf({ credentials: wrongSecret })).toBe(401);
    expect(await statusOf({ headers: { "content-type": "text/plain" } })).toBe(429);
    const known = await service.books.createKey({ scopes: ["read"] });
    for (let tries = 0; tries < burst; tries += 1) await statusOf({ credentials: known });
    expect(await statusOf({ credentials: known })).toBe(429);
  });

  test("pays for each item of a bulk; one that is larger than the burst gets in", async () => {
    const writes = Array.from({ length: 40 }, () => ({
      callerKey: "bulk",
      type: "credit",
      amount: "1",
      assetCode: "USD",
    }));
    const credentials = await keyWith(1);
    const target = `/v1/ledgers/${service.books.ledgerId}/wallet-writes`;
    const reply = await service.send({ target, body: JSON.stringify({ writes }), credentials });
    expect(reply.status).toBe(200);
    expect((reply.body as { results: object[] }).results).toHaveLength(40);
    const next = await service.send({ target: "/v1/ledgers", credentials });
    expect(next.status).toBe(429);
    expect(Number(next.headers["retry-after"])).toBeGreaterThan(39 * 3_600);
    const few = await keyWith(4);
    const entries = `${entriesPath(service.books.ledgerId)}/bulk`;
    const body = JSON.stringify({ entries: [entry(), { lines: [] }, entry()] });
    const { headers } = await service.send({ target: entries, body, credentials: few });
    expect(headers["ratelimit"]).toMatch(/r=1/);
  });

  test("gets its burst and one bulk of many that come at once, also where the server has just started", async () => {
    const { books } = service;
    const credentials = await books.createKey();
    const started = await startService(books, { rateLimit: { perSecond: 1 / 3_600, burst } });
    const write = { callerKey: "cold", type: "credit", amount: "1", assetCode: "USD" };
    const body = JSON.stringify({ writes: Array<object>(20).fill(write) });
    const target = `/v1/ledgers/${books.ledgerId}/wallet-writes`;
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => started.send({ target, body, credentials })),
    );
    await started.stop();
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array<number>(49).fill(429)]);
  });

  test("pays for the items of a bulk that is refused, and is told of the limit first", async () => {
    const credentials = await service.books.createKey({ scopes: ["read"] });
    const target = `${entriesPath(service.books.ledgerId)}/bulk`;
    const body = JSON.stringify({ entries: Array<object>(9).fill(entry()) });
    const statusOf = async () => (await service.send({ target, body, credentials })).status;
    expect([await statusOf(), await statusOf()]).toEqual([403, 429]);
    const broken = { target, body: "{", credentials: await keyWith(2) };
    expect((await service.send(broken)).status).toBe(400);
    expect((await service.send(broken)).status).toBe(400);
    expect((await service.send(broken)).status).toBe(429);
  });

  test("pays for a stream when it is opened", async () => {
    const credentials = await keyWith(1);
    const walletKey = newKey(service);
    const stream = await openStream(service, walletKey, { credentials });
    const target = streamTarget(walletKey);
    const upgrade = await refusedUpgrade(service, target, signedHeaders(credentials, target));
    expect([upgrade.status, Object.keys(upgrade.body as object)]).toEqual([429, ["error"]]);
    expect(upgrade.headers["ratelimit"]).toMatch(/^"default";r=0;t=\d+$/);
    expect(Number(upgrade.headers["retry-after"])).toBeGreaterThan(0);
    await stream.end();
  });

  test("that sends many in a row is answered each, in order", async () => {
    const credentials = await keyWith(3);
    const socket = connect(service.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    const bytes = signedRequestBytes({ credentials, target: "/v1/ledgers" });
    const many = 300;
    socket.end(Buffer.concat(Array.from({ length: many }, () => bytes)));
    await once(socket, "close");
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([200, 200, 200, ...Array<number>(many - 3).fill(429)]);
  });

  test("is named in the log once a second, and its requests are counted", async () => {
    const credentials = await keyWith(0);
    await service.send({ target: "/v1/ledgers", credentials });
    const logged = () => lines.filter((line) => line.includes(credentials.apiKey));
    await expect.poll(logged).toHaveLength(1);
    expect(logged()[0]).toContain("over the rate limit of their key");
    const { text } = await service.send({ target: "/metrics", credentials: null });
    const rejections = sampleOf(text, "ledgerctl_rejections_total", { limit: "rate" });
    expect(rejections).toBeGreaterThan(300);
  });
});

describe("a client", () => {
  const service = serveBooks({ rateLimit: { perSecond: 1, burst: 1 } });

  test("waits as long as it is told", async () => {
    const { credentials, ledgerId } = service.books;
    const url = `http://127.0.0.1:${service.port}`;
    const statuses: (number | null)[] = [];
    const client = new LedgerClient({
      ...credentials,
      url,
      onExchange: ({ status }) => statuses.push(status),
    });
    for (let amount = 1; amount <= 2; amount += 1) await client.postEntry(ledgerId, entry(amount));
    await client.close();
    expect(statuses).toEqual([201, 429, 201]);
  });

  test("fails at once where that is longer than it may try", async () => {
    const { books } = service;
    const slow = await startService(books, { rateLimit: { perSecond: 1 / 3_600, burst: 1 } });
    const url = `http://127.0.0.1:${slow.port}`;
    const client = new LedgerClient({ ...books.credentials, url });
    await client.listLedgers();
    const error: unknown = await client.listLedgers().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceProblem);
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3_600 });
    await client.close();
    await slow.stop();
  });

  test("waits as long as it is told before it opens a stream again", async () => {
    const { books } = service;
    const url = `http://127.0.0.1:${service.port}`;
    const credentials = await books.createKey();
    const client = new LedgerClient({ ...credentials, url });
    await client.listLedgers();
    const states: string[] = [];
    const stream = client.streamWallet(
      { ledgerId: books.ledgerId, callerKey: "alice" },
      {
        since: 0,
        onConnection: (state) => {
          states.push(state);
          if (state === "connected") stream.close();
        },
      },
    );
    for await (const message of stream) expect(message).toBeUndefined();
    await client.close();
    expect(states).toEqual(["lost", "connected"]);
  });

  test("is told nothing where there is no limit", async () => {
    const unlimited = await startService(service.books);
    const { status, headers } = await unlimited.get("/v1/ledgers");
    await unlimited.stop();
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });
});

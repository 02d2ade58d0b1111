// `/metrics`: what is counted, who may read it, and that it is told while the database is away.
import { command } from "../../src/store/database/statement.ts";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readEnvironment } from "../../src/config.ts";
import { metricsOfOneProcess, openBooksMetrics } from "../../src/server/books-metrics.ts";
import { runningDatabase } from "../../src/server/database.ts";
import { openInteractivePool } from "../../src/server/pools.ts";
import { createService } from "../../src/server/service.ts";
import { listenForMetrics } from "../../src/http/metrics-server.ts";
import { createLog } from "../../src/log.ts";
import { openCuttingProxy } from "../support/cutting-proxy.ts";
import { openEngine, neverPosting } from "../support/engine.ts";
import { entriesPath, entry } from "../support/entries.ts";
import { describedMetrics, readSamples, sampleOf } from "../support/metrics.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { signedHeaders, streamTarget } from "../support/stream-reader.ts";
import { accepted, expectDuplicate, hold, move, newKey, resolve } from "../support/wallets.ts";

/** Of this machine, and not loopback. */
const address =
  Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal)?.address ?? "";

let books: TestBooks;
let service: TestService;

beforeAll(async () => {
  books = await createBooks();
  service = await startService(books, neverPosting);
});

afterAll(async () => {
  await service.stop();
  await books.drop();
});

async function read(from: TestService = service): Promise<string> {
  const reply = await from.send({ target: "/metrics", credentials: null });
  expect(reply.status, reply.text).toBe(200);
  expect(reply.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  return reply.text;
}

/** How much a sample has grown while something was done. */
async function growth(
  samples: readonly (readonly [name: string, labels: Record<string, string>])[],
  act: () => Promise<unknown>,
): Promise<number[]> {
  const before = await read();
  await act();
  const after = await read();
  return samples.map(
    ([name, labels]) =>
      (sampleOf(after, name, labels) ?? 0) - (sampleOf(before, name, labels) ?? 0),
  );
}

const writes = (kind: string, outcome: string) =>
  ["ledgerctl_writes_total", { kind, outcome }] as const;

describe("writes are counted by kind and outcome", () => {
  test("entries: accepted, duplicate, refused", async () => {
    const { ledgerId } = books;
    const path = entriesPath(ledgerId);
    const grown = await growth(
      [writes("entry", "accepted"), writes("entry", "duplicate"), writes("entry", "refused")],
      async () => {
        const body = entry(100, { externalId: "counted" });
        expect((await service.post(path, body)).status).toBe(201);
        expect((await service.post(path, body)).status).toBe(409);
        const lines = [
          { glAccountCode: "nowhere", functionalAmount: "1" },
          { glAccountCode: "1000", functionalAmount: "-1" },
        ];
        expect((await service.post(path, entry(1, { lines }))).status).toBe(400);
      },
    );
    expect(grown).toEqual([1, 1, 1]);
  });

  test("reversals", async () => {
    const path = entriesPath(books.ledgerId);
    const grown = await growth([writes("reversal", "accepted")], async () => {
      const { journalId } = (await service.post(path, entry())).body as { journalId: string };
      expect((await service.post(`${path}/${journalId}/reversal`)).status).toBe(201);
    });
    expect(grown).toEqual([1]);
  });

  test("wallets: each kind, duplicates and refusals", async () => {
    const key = newKey(service);
    const kinds = ["credit", "debit", "reserve", "commit", "release"];
    const grown = await growth(
      [
        ...kinds.map((kind) => writes(kind, "accepted")),
        writes("credit", "duplicate"),
        writes("debit", "refused"),
      ],
      async () => {
        accepted(await move(service, key, "credit", 100, { externalId: "once" }));
        expectDuplicate(await move(service, key, "credit", 5, { externalId: "once" }), "100");
        accepted(await move(service, key, "debit", 10));
        expect((await move(service, key, "debit", 10_000)).status).toBe(422);
        const [first, second] = [await hold(service, key, 5), await hold(service, key, 6)];
        accepted(await resolve(service, key, first, "commit"));
        accepted(await resolve(service, key, second, "release"));
      },
    );
    expect(grown).toEqual([1, 1, 2, 1, 1, 1, 1]);
  });
});

test("batches are observed once each, with their writes", async () => {
  const lane = { lane: "wallets" };
  const [batches, batchWrites, commits, longest] = await growth(
    [
      ["ledgerctl_batch_writes_count", lane],
      ["ledgerctl_batch_writes_sum", lane],
      ["ledgerctl_commit_seconds_count", lane],
      ["ledgerctl_commit_seconds_sum", lane],
    ],
    async () => {
      const key = newKey(service);
      for (let count = 0; count < 3; count += 1) accepted(await move(service, key, "credit"));
      await Promise.all(Array.from({ length: 20 }, () => move(service, key, "credit")));
    },
  );
  expect(batchWrites).toBe(23);
  expect(batches).toBeGreaterThanOrEqual(4);
  expect(batches).toBeLessThanOrEqual(23);
  expect(commits).toBe(batches);
  expect(longest).toBeGreaterThan(0);
});

test("answers are counted by route and status, those outside of the API as none", async () => {
  const answers = (route: string, status: string) =>
    ["ledgerctl_http_answers_total", { route, status }] as const;
  const grown = await growth(
    [
      answers("listLedgers", "200"),
      answers("postEntry", "400"),
      answers("listLedgers", "401"),
      answers("none", "404"),
    ],
    async () => {
      await service.get("/v1/ledgers");
      await service.post(entriesPath(books.ledgerId), "{");
      await service.send({ target: "/v1/ledgers", credentials: null });
      await service.get("/nowhere");
    },
  );
  expect(grown).toEqual([1, 1, 1, 1]);
});

test("streams, their wallets and their messages are counted", async () => {
  const key = newKey(service);
  const target = streamTarget(key);
  const headers = signedHeaders(books.credentials, target);
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${target}`, { headers });
  await once(socket, "open");
  const told = once(socket, "message");
  accepted(await move(service, key, "credit"));
  await told;
  const text = await read();
  expect(sampleOf(text, "ledgerctl_streams")).toBe(1);
  expect(sampleOf(text, "ledgerctl_streamed_wallets")).toBe(1);
  expect(sampleOf(text, "ledgerctl_stream_messages_total")).toBe(1);
  expect(sampleOf(text, "ledgerctl_http_connections")).toBeGreaterThanOrEqual(2);
  socket.close();
  await once(socket, "close");
  await expect.poll(async () => sampleOf(await read(), "ledgerctl_streams")).toBe(0);
});

test("what waits to be posted has a lag, unless it rounds to nothing or has no rate", async () => {
  const engine = openEngine(books.databaseUrl);
  const ledgerId = await books.createLedger();
  const figures = async () => {
    const text = await read();
    return {
      lag: sampleOf(text, "ledgerctl_posting_lag_seconds"),
      pending: sampleOf(text, "ledgerctl_posting_pending_batches"),
      withoutRate: sampleOf(text, "ledgerctl_posting_assets_without_rate"),
    };
  };
  await engine.post(books.ledgerId);
  expect(await figures()).toEqual({ lag: 0, pending: 0, withoutRate: 0 });

  await engine.setRule(ledgerId, "points", { rate: "0.001" });
  accepted(await move(service, `${ledgerId}:p`, "credit", 1, { assetCode: "points" }));
  expect(await figures()).toEqual({ lag: 0, pending: 1, withoutRate: 0 });
  accepted(await move(service, `${ledgerId}:e`, "credit", 1, { assetCode: "EUR" }));
  expect(await figures()).toEqual({ lag: 0, pending: 2, withoutRate: 1 });

  accepted(await move(service, `${ledgerId}:u`, "credit", 1));
  await sleep(20);
  const waiting = await figures();
  expect(waiting.lag).toBeGreaterThan(0.01);
  expect(waiting.pending).toBe(3);
  await engine.post(ledgerId);
  expect(await figures()).toEqual({ lag: 0, pending: 2, withoutRate: 1 });
  await engine.end();
});

test("wallets that do not agree with what is posted and pending show as a difference", async () => {
  const own = await createBooks();
  const first = await startService(own);
  const wallet = (name: string) => `${own.ledgerId}:${name}`;
  accepted(await move(first, wallet("a"), "credit", 70));
  accepted(await move(first, wallet("b"), "credit", 30));
  accepted(await move(first, wallet("b"), "debit", 20));
  const labels = { ledger: own.ledgerId, asset: "USD" };
  expect(sampleOf(await read(first), "ledgerctl_wallet_difference", labels)).toBe(0);
  await first.stop();
  await own.pool.run(command`UPDATE wallets SET balance = balance + 7 WHERE caller_key = 'a'`);
  const second = await startService(own);
  const text = await read(second);
  expect(sampleOf(text, "ledgerctl_wallet_difference", labels)).toBe(7);
  const at = sampleOf(text, "ledgerctl_wallet_difference_timestamp_seconds") ?? 0;
  expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(600);
  await second.stop();
  await own.drop();
});

test("while the database is away, the rest is told, and figures of the books are left out", async () => {
  const own = await createBooks();
  const proxy = await openCuttingProxy(own.databaseUrl);
  const cut = await startService(own, { databaseUrl: proxy.url });
  const before = await read(cut);
  expect(sampleOf(before, "ledgerctl_database_up")).toBe(1);
  expect(sampleOf(before, "ledgerctl_backup_timestamp_seconds")).toBe(0);
  await proxy.close();
  const text = await read(cut);
  expect(sampleOf(text, "ledgerctl_database_up")).toBe(0);
  expect(sampleOf(text, "ledgerctl_posting_lag_seconds")).toBeNull();
  expect(sampleOf(text, "ledgerctl_backup_timestamp_seconds")).toBeNull();
  const errors = async () =>
    sampleOf(await read(cut), "ledgerctl_database_errors_total", { pool: "interactive" });
  await expect.poll(errors).toBeGreaterThan(0);
  expect(sampleOf(text, "ledgerctl_info", { version: "0.0.0-test" })).toBe(1);
  await cut.stop();
  await own.drop();
});

test("names and units are those of Prometheus", async () => {
  const text = await read();
  const described = describedMetrics(text);
  expect(described.size).toBeGreaterThan(30);
  for (const [name, { type, help }] of described) {
    expect(help, name).not.toBe("");
    if (!name.startsWith("ledgerctl_")) continue;
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    expect(name).not.toMatch(/_(ms|millis|kb|minutes)(_|$)/);
  }
  const names = new Set(
    readSamples(text).map(({ name }) => name.replace(/_(bucket|sum|count)$/, "")),
  );
  for (const name of names) expect(described.has(name), name).toBe(true);
});

describe("who may read them", () => {
  test("no method but GET", async () => {
    const reply = await service.send({ target: "/metrics", method: "POST", credentials: null });
    expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET"]);
  });

  test.each([
    "x-forwarded-for",
    "forwarded",
    "via",
    "x-forwarded-host",
    "x-real-ip",
    "cf-connecting-ip",
  ])("a request that a proxy passed on with %s finds nothing", async (header) => {
    const headers = { [header]: "192.0.2.1" };
    const reply = await service.send({ target: "/metrics", credentials: null, headers });
    expect(reply.status).toBe(404);
  });

  // A machine may have no other interface.
  test.runIf(address !== "")("one that comes over another interface finds nothing", async () => {
    const pool = openInteractivePool(books.databaseUrl);
    const booksMetrics = openBooksMetrics(books.databaseUrl, pool);
    const wide = createService({
      environment: readEnvironment({ LEDGERCTL_GRACE_MS: "2000" }),
      database: runningDatabase(books.databaseUrl),
      pool,
      masterKeys: [books.masterKey],
      log: createLog("silent"),
      version: "0.0.0-test",
      gatherMetrics: metricsOfOneProcess(booksMetrics.metrics),
    });
    const { port } = new URL(await wide.listen("0.0.0.0", 0));
    expect((await fetch(`http://${address}:${port}/metrics`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
    await wide.stop();
    await Promise.all([pool.end(), booksMetrics.end()]);
  });

  test("an address of their own has them and nothing else", async () => {
    const server = await listenForMetrics({ host: "127.0.0.1", port: 0 }, async () => "up 1\n");
    const reply = await fetch(server.url);
    expect([reply.status, await reply.text()]).toEqual([200, "up 1\n"]);
    expect((await fetch(server.url, { method: "POST" })).status).toBe(405);
    expect((await fetch(new URL("/v1/ledgers", server.url))).status).toBe(404);
    await server.close();
  });
});

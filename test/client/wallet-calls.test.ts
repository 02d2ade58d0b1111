// The client's wallet calls and streams where answers get lost and readers take their time.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { neverPosting, openEngine } from "../support/engine.ts";
import { openLosingProxy, type LosingProxy } from "../support/losing-proxy.ts";
import { sampleOf } from "../support/metrics.ts";
import { readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks(neverPosting);
let proxy: LosingProxy;
let client: LedgerClient;

beforeAll(async () => {
  proxy = await openLosingProxy(service.port);
  client = new LedgerClient({ url: proxy.url, ...service.books.credentials });
});

afterAll(async () => {
  await client.close();
  proxy.close();
});

function walletNamed(callerKey: string) {
  return { ledgerId: service.books.ledgerId, callerKey };
}

const movement = { amount: "7", assetCode: "USD" };

test("a write whose answer was lost resolves as accepted, and counts once", async () => {
  const wallet = walletNamed("lost");
  proxy.answersToLose = 1;
  const credited = await client.creditWallet(wallet, movement);
  expect(credited).toEqual({ status: "accepted", balance: "7", available: "7" });
  proxy.answersToLose = 1;
  const reserved = await client.reserveFunds(wallet, { ...movement, amount: "3" });
  expect(reserved).toMatchObject({ status: "accepted", balance: "7", available: "4" });
  expect(reserved.holdId).not.toBeNull();
  proxy.answersToLose = 1;
  const bulk = { ...movement, callerKey: "lost", type: "credit" as const };
  const { results } = await client.writeWallets(wallet.ledgerId, [
    bulk,
    { ...bulk, externalId: "given" },
  ]);
  expect(results.map(({ status }) => status)).toEqual(["accepted", "duplicate"]);
  const { writes } = await client.listWalletWrites(wallet);
  expect(writes.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "credit"],
    [2, "reserve"],
    [3, "credit"],
    [4, "credit"],
  ]);
});

test("a duplicate of an externalId that the caller gave stays one", async () => {
  const wallet = walletNamed("given");
  proxy.answersToLose = 1;
  const keyed = { ...movement, externalId: "order-1" };
  expect(await client.creditWallet(wallet, keyed)).toMatchObject({ status: "duplicate" });
  expect(await client.creditWallet(wallet, keyed)).toMatchObject({ status: "duplicate" });
  expect(await client.getWalletBalance(wallet)).toEqual({ balance: "7", available: "7" });
});

test("a stream whose reader rests holds the server back, and misses nothing", async () => {
  const wallet = walletNamed("resting");
  await client.creditWallet(wallet, movement);
  const rows = 20_000;
  await readRows(
    service,
    `WITH grown AS (
       UPDATE wallets SET last_seq = $2 WHERE ledger_id = $1 AND caller_key = 'resting'
        RETURNING wallet_id
     )
     INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, at)
     SELECT $1::uuid, wallet_id, seq, 'credit', 1, repeat('9', 1000)::numeric, 0, now()
       FROM grown, generate_series(2, $2::bigint) AS seq`,
    [wallet.ledgerId, rows],
  );
  proxy.bytesToClient = 0;
  const seqs: number[] = [];
  for await (const { seq } of client.streamWallet(wallet, { since: 0 })) {
    seqs.push(seq);
    if (seq === 1) {
      // As long as anything still comes.
      for (let before = -1; before < proxy.bytesToClient;) {
        before = proxy.bytesToClient;
        await sleep(500);
      }
      expect(proxy.bytesToClient).toBeLessThan((rows * 2_000) / 2);
    }
    if (seq === rows) break;
  }
  expect(seqs).toEqual(Array.from({ length: rows }, (_, index) => index + 1));
});

test("a stream tells a posting from a write, also before the first write that it tells of", async () => {
  const wallet = walletNamed("posted");
  await client.creditWallet(wallet, movement);
  const engine = openEngine(service.books.databaseUrl);
  const failures: unknown[] = [];
  const stream = client.streamWallet(wallet, {
    onConnection: () => {
      engine.post(wallet.ledgerId).catch((error: unknown) => failures.push(error));
    },
  });
  const told: [number, boolean][] = [];
  for await (const { seq, isPosting } of stream) {
    told.push([seq, isPosting]);
    if (told.length === 2) break;
    await client.creditWallet(wallet, movement);
  }
  expect(told).toEqual([
    [1, true],
    [2, false],
  ]);
  expect(failures).toEqual([]);
  await engine.end();
});

const openStreams = async () => sampleOf((await service.get("/metrics")).text, "ledgerctl_streams");

test("what onConnection throws ends a stream, and its connection", async () => {
  const stream = client.streamWallet(walletNamed("thrown"), {
    since: 0,
    onConnection: () => {
      throw new Error("of the caller");
    },
  });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("of the caller");
  await expect.poll(openStreams).toBe(0);
});

test("a stream that is closed at any moment leaves no connection", async () => {
  const wallet = walletNamed("closed early");
  await client.creditWallet(wallet, movement);
  const streams = Array.from({ length: 40 }, () => client.streamWallet(wallet));
  await Promise.all(
    streams.map(async (stream, index) => {
      const reading = stream[Symbol.asyncIterator]().next();
      await sleep(index);
      stream.close();
      expect(await reading).toMatchObject({ done: true });
    }),
  );
  await expect.poll(openStreams).toBe(0);
});

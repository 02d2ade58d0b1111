// That what was accepted is posted exactly once, whoever posts, and however a server ended.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import { listEntries, readBalance } from "../support/entries.ts";
import { lockWaiters, readRows } from "../support/rows.ts";
import { serveBooks, startService } from "../support/service.ts";
import { laneLimits } from "../support/wallet-batches.ts";
import { accepted, expectFigures, move, newKey, readWalletLog } from "../support/wallets.ts";
import { until } from "../support/until.ts";

const service = serveBooks(neverPosting);
let engines: TestEngine[];

beforeAll(() => {
  engines = Array.from({ length: 6 }, () => openEngine(service.books.databaseUrl));
});

afterAll(() => Promise.all(engines.map((engine) => engine.end())));

/** Every pending posting is in one entry, and the ledger holds exactly what the wallets do. */
async function expectPostedOnce(ledgerId: string, total: bigint): Promise<void> {
  const sides = await readRows(
    service,
    `SELECT side, sum(amount)::text AS amount, count(*) FILTER (WHERE journal_id IS NULL)::int AS waiting
       FROM wallet_batches WHERE ledger_id = $1 GROUP BY side`,
    [ledgerId],
  );
  for (const { waiting } of sides) expect(waiting).toBe(0);
  const { balance } = await readBalance(service, "wallets:USD", undefined, ledgerId);
  expect(balance).toBe(-total);
  const clearing = await readBalance(service, "wallets-clearing:USD", undefined, ledgerId);
  expect(clearing.balance).toBe(total);
}

describe("posters at once", () => {
  test("post what waits once", async () => {
    const ledgerId = await service.books.createLedger();
    for (let index = 0; index < 20; index += 1) {
      accepted(await move(service, newKey(service, ledgerId), "credit", 3));
    }
    await Promise.all(engines.map((engine) => engine.post(ledgerId)));
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
    await expectPostedOnce(ledgerId, 60n);
  });

  test("post everything once while writes go on", async () => {
    const ledgerId = await service.books.createLedger();
    let isWriting = true;
    const posting = engines.map(async (engine) => {
      while (isWriting) await engine.post(ledgerId);
    });
    const keys = Array.from({ length: 8 }, () => newKey(service, ledgerId));
    await Promise.all(
      keys.map(async (key) => {
        for (let index = 0; index < 25; index += 1) {
          accepted(await move(service, key, "credit", 10));
          accepted(await move(service, key, "debit", 4));
        }
      }),
    );
    isWriting = false;
    await Promise.all(posting);
    await engines[0]?.post(ledgerId);
    await expectPostedOnce(ledgerId, 8n * 25n * 6n);
    const { entries, total } = await listEntries(service, "?limit=100", ledgerId);
    expect(total).toBeGreaterThan(1);
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
  });

  test("let client entries in between, in one sequence", async () => {
    const ledgerId = await service.books.createLedger();
    const path = `/v1/ledgers/${ledgerId}/journal-entries`;
    const lines = ["1", "-1"].map((functionalAmount, index) => ({
      glAccountCode: index ? "4000" : "1000",
      functionalAmount,
    }));
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([
        service.post(path, { lines }),
        move(service, newKey(service, ledgerId), "credit", 1),
        ...engines.slice(0, 3).map((engine) => engine.post(ledgerId)),
      ]);
    }
    await engines[0]?.post(ledgerId);
    const { entries } = await listEntries(service, "?limit=100", ledgerId);
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    const times = entries.map(({ persistedAt }) => persistedAt);
    expect(times).toEqual([...times].sort());
    await expectPostedOnce(ledgerId, 10n);
  });
});

test("a server that ends before it posts leaves everything to the next one", async () => {
  const { books } = service;
  const ledgerId = await books.createLedger();
  const connections = new Pool({
    databaseUrl: books.databaseUrl,
    connectionsMax: 2,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
  const wallets = new Wallets(connections, laneLimits, () => undefined);
  const identity = {
    ledgerId,
    organizationId: books.organizationId,
    functionalCurrency: "USD",
  };
  const write = {
    type: "credit",
    callerKey: "k",
    amount: 5n,
    assetCode: "USD",
    externalId: null,
    metadata: null,
  } as const;
  for (let index = 0; index < 10; index += 1) await wallets.write(identity, write, 100);
  // No poster ran, and none will: as after kill -9.
  await connections.end();
  await expectFigures(service, `${ledgerId}:k`, 50);
  expect((await listEntries(service, "", ledgerId)).total).toBe(0);

  const options = { variables: { LEDGERCTL_POST_INTERVAL_MS: "20" } };
  const nexts = [await startService(books, options), await startService(books, options)];
  await until("a posting", async () => (await listEntries(service, "", ledgerId)).total > 0);
  await Promise.all(nexts.map((next) => next.stop()));
  expect((await listEntries(service, "", ledgerId)).total).toBe(1);
  await expectPostedOnce(ledgerId, 50n);
  const log = await readWalletLog(service, `${ledgerId}:k`);
  expect(new Set(log.map(({ journalId }) => journalId)).size).toBe(1);
});

test("a poster whose transaction is cut off has posted nothing, and the next one posts it all", async () => {
  const ledgerId = await service.books.createLedger();
  accepted(await move(service, newKey(service, ledgerId), "credit", 9));
  const [engine] = engines;
  if (engine === undefined) throw new Error("there are engines");
  const blocker = new Client({ connectionString: service.books.databaseUrl });
  await blocker.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM journal_heads WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
  const cut = expect(engine.post(ledgerId)).rejects.toThrow();
  const terminate = `SELECT pg_terminate_backend(pid, 5000) FROM (${lockWaiters}) AS waiting`;
  await until("the poster waits", async () => (await readRows(service, terminate)).length > 0);
  await cut;
  await blocker.query("COMMIT");
  await blocker.end();
  expect((await listEntries(service, "", ledgerId)).total).toBe(0);
  await engine.post(ledgerId);
  await expectPostedOnce(ledgerId, 9n);
});

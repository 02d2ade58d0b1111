// The database goes away in the midst of reads and comes back: the service has to find its way back too.
import { command } from "../../src/store/database/statement.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entry, listEntries, postEntry } from "../support/entries.ts";
import { isCluster } from "../support/cluster.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { countRows, lockWaiters } from "../support/rows.ts";
import { until } from "../support/until.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";

let books: TestBooks;
let proxy: CuttingProxy;
let service: TestService;

beforeAll(async () => {
  books = await createBooks();
  proxy = await openCuttingProxy(books.databaseUrl);
  service = await startService(books, { databaseUrl: proxy.url });
});

afterAll(async () => {
  await service.stop();
  await proxy.close();
  await books.drop();
});

describe("reads that are under way when the database goes away", () => {
  const read = async () => (await service.get(`/v1/ledgers/${books.ledgerId}`)).status;

  test("are all answered, and use up no connection for good", async () => {
    for (let round = 0; round < 5; round += 1) {
      const underWay = Promise.all(Array.from({ length: 40 }, read));
      // Long enough for some to be in the database, too short for all to be done.
      await sleep(4 + round);
      await proxy.goAway();
      for (const status of await underWay) expect([200, 503]).toContain(status);
      await proxy.comeBack();
      await expect.poll(read).toBe(200);
      expect(await Promise.all(Array.from({ length: 20 }, read))).toEqual(Array(20).fill(200));
    }
  });

  test("leave writes as they were", async () => {
    const { total } = await listEntries(service);
    await postEntry(service, entry());
    expect((await listEntries(service)).total).toBe(total + 1);
  });
});

describe("a database that does not answer", () => {
  // Statements have a minute where nobody waits for them; here somebody does.
  test("is told of by every read, instead of waiting, and by /readyz", async () => {
    const ledger = `/v1/ledgers/${books.ledgerId}`;
    const wallet = `/v1/wallets/${books.ledgerId}:anybody`;
    const targets = [
      "/v1/ledgers",
      ledger,
      `${ledger}/accounts`,
      `${ledger}/balances?account=1000`,
      `${ledger}/journal-entries`,
      `${ledger}/journal-entries?glAccountCode=1000`,
      `${wallet}/balance`,
      `${wallet}/history`,
    ];
    for (const target of targets) expect((await service.get(target)).status, target).toBe(200);
    proxy.freeze();
    // More than there are connections, so that some wait for one.
    const notReady = until("not ready", async () => {
      const { status, body } = await service.get("/readyz");
      return status === 503 && body;
    });
    const replies = await Promise.all(
      [...targets, ...targets, ...targets].map((target) => service.get(target)),
    );
    expect(await notReady).toEqual({
      status: "unavailable",
      reason: "the database does not answer: check that it runs and can be reached",
      // Whoever can't ask does not know better.
      nodesDown: isCluster ? (expect.any(Array) as unknown) : [],
    });
    proxy.thaw();
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 503));
    for (const { headers } of replies) expect(headers["retry-after"]).toMatch(/^[1-3]$/);
    for (const target of targets) {
      await expect.poll(async () => (await service.get(target)).status).toBe(200);
    }
    await until("ready", async () => (await service.get("/readyz")).status === 200);
  });
});

describe("searches that take long", () => {
  test("keep nobody else from being authenticated and answered", async () => {
    const ledger = `/v1/ledgers/${books.ledgerId}`;
    const searches: Promise<{ status: number }>[] = [];
    await books.pool.transaction(async (transaction) => {
      await transaction.run(command`LOCK TABLE journal_lines IN ACCESS EXCLUSIVE MODE`);
      for (let count = 0; count < 30; count += 1) {
        searches.push(service.get(`${ledger}/journal-entries?glAccountCode=1000`));
      }
      // All of them that get a connection wait for the table by then.
      await expect.poll(() => countRows({ books }, lockWaiters)).toBeGreaterThan(1);
      for (let round = 0; round < 10; round += 1) {
        const credentials = await books.createKey();
        const target = `${ledger}/balances?account=1000`;
        expect((await service.send({ credentials, target })).status).toBe(200);
      }
    });
    for (const { status } of await Promise.all(searches)) expect([200, 503]).toContain(status);
  });
});

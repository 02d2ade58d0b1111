// The database goes away in the midst of reads and comes back: the service has to find its way back too.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entry, listEntries, postEntry } from "../support/entries.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
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
}, 10_000);

describe("reads that are under way when the database goes away", () => {
  const read = async () => (await service.get(`/v1/ledgers/${books.ledgerId}`)).status;

  test("are all answered, and use up no connection for good", { timeout: 20_000 }, async () => {
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

  test("leave writes as they were", { timeout: 20_000 }, async () => {
    const { total } = await listEntries(service);
    await postEntry(service, entry());
    expect((await listEntries(service)).total).toBe(total + 1);
  });
});

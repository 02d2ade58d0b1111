// The database's connections break under the running service: every answer has to stay true.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  listEntries,
  postEntry,
  problem,
  readBalance,
  reverseEntry,
  written,
} from "../support/entries.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { sql } from "../../src/store/database/statement.ts";

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

/** That an externalId stands for exactly one entry, and its lines were counted once. */
async function expectOnce(ledgerId: string, entries: number): Promise<void> {
  const page = await listEntries(service, "?limit=100", ledgerId);
  expect(page.entries.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: entries }, (_, index) => index + 1),
  );
  expect(await readBalance(service, "1000", undefined, ledgerId)).toMatchObject({
    balance: BigInt(entries) * 100n,
    entryCount: entries,
  });
}

describe("a connection that is cut", () => {
  test.each(["beforeCommit", "afterCommit", "withCommit"] as const)(
    "around COMMIT (%s) costs the client nothing and doubles nothing",
    async (point) => {
      const ledgerId = await books.createLedger();
      await postEntry(service, entry(), ledgerId);
      const cut = proxy.cutNext(point);
      const body = entry(100n, { externalId: "around a cut" });
      const reply = await service.post(entriesPath(ledgerId), body);
      await cut;
      const first = written(reply);
      await expectOnce(ledgerId, 2);
      const again = await service.post(entriesPath(ledgerId), body);
      expect(problem(again)).toMatchObject({ status: 409, ...first });
      const { entries } = await listEntries(service, "?externalId=around%20a%20cut", ledgerId);
      expect(entries).toMatchObject([first]);
    },
  );

  test.each(["beforeCommit", "afterCommit", "withCommit"] as const)(
    "around the COMMIT of a batch without externalIds (%s) doubles nothing",
    async (point) => {
      const ledgerId = await books.createLedger();
      const cut = proxy.cutNext(point);
      const replies = await Promise.all(
        Array.from({ length: 30 }, () => service.post(entriesPath(ledgerId), entry())),
      );
      await cut;
      const ids = replies.map((reply) => written(reply).journalId);
      expect(new Set(ids).size).toBe(30);
      await expectOnce(ledgerId, 30);
      const { entries } = await listEntries(service, "?limit=100", ledgerId);
      expect(new Set(entries.map(({ journalId }) => journalId))).toEqual(new Set(ids));
    },
  );

  test.each(["beforeCommit", "afterCommit"] as const)(
    "around the COMMIT of a reversal (%s) reverses once",
    async (point) => {
      const ledgerId = await books.createLedger();
      const { journalId } = await postEntry(service, entry(), ledgerId);
      const cut = proxy.cutNext(point);
      const reversal = await reverseEntry(service, journalId, ledgerId);
      await cut;
      const { entries, total } = await listEntries(service, "", ledgerId);
      expect(total).toBe(2);
      expect(entries[0]).toMatchObject({ reversedByJournalId: reversal.journalId });
    },
  );
});

describe("backends that an operator terminates", () => {
  /** Terminates the connections of the service with such a name; returns how many there were. */
  const terminate = async (like: string): Promise<number> => {
    const terminated = await books.pool.any(sql.unsafe`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE ${like}
         AND pid <> pg_backend_pid()`);
    return terminated.length;
  };

  test("while writes are under way lose none and double none", async () => {
    const ledgerId = await books.createLedger();
    const post = async (client: number, index: number) => {
      const body = entry(100n, { externalId: `${client}/${index}` });
      written(await service.post(entriesPath(ledgerId), body));
    };
    const posting = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let index = 0; index < 25; index += 1) await post(client, index);
      }),
    );
    let terminated = 0;
    for (let round = 0; round < 20; round += 1) {
      terminated += await terminate("ledgerctl write");
      await sleep(10);
    }
    await posting;
    expect(terminated).toBeGreaterThan(0);
    const { total } = await listEntries(service, "", ledgerId);
    expect(total).toBe(200);
    expect(await readBalance(service, "1000", undefined, ledgerId)).toMatchObject({
      balance: 20_000n,
      entryCount: 200,
    });
  });

  test("the moment they are ready do not take the service down with them", async () => {
    const ledgerId = await books.createLedger();
    const posting = Promise.all(
      Array.from({ length: 20 }, () => service.post(entriesPath(ledgerId), entry())),
    );
    for (let round = 0; round < 300; round += 1) await terminate("ledgerctl write");
    const replies = await posting;
    const accepted = replies.filter(({ status }) => status === 201).length;
    const refused = replies.filter(({ status }) => status === 503).length;
    expect(accepted + refused).toBe(20);
    expect((await listEntries(service, "", ledgerId)).total).toBe(accepted);
  });

  test("while a caller is looked up cost the caller nothing", async () => {
    const credentials = await books.createKey();
    const target = entriesPath(await books.createLedger());
    const replying = await books.pool.transaction(async (transaction) => {
      await transaction.any(sql.unsafe`LOCK TABLE api_keys`);
      const body = JSON.stringify(entry());
      const reply = service.send({ credentials, target, method: "POST", body });
      for (let time = 0; time < 2; time += 1) {
        await until("a terminated lookup", async () => {
          const terminated = await books.pool.any(sql.unsafe`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'ledgerctl'
               AND wait_event_type = 'Lock'`);
          return terminated.length > 0;
        });
      }
      return { reply };
    });
    written(await replying.reply);
  });

  test("while nothing is under way are replaced", async () => {
    await terminate("ledgerctl write");
    await postEntry(service, entry());
  });
});

describe("a database that is away", () => {
  test("makes reads and writes 503, and all is well when it is back", async () => {
    const path = entriesPath(books.ledgerId);
    const { total } = await listEntries(service);
    await proxy.goAway();
    const replies = await Promise.all([
      service.post(path, entry()),
      service.post(`${path}/0190b6a0-0000-7000-8000-000000000001/reversal`),
      service.get(path),
      service.get("/v1/ledgers"),
    ]);
    for (const reply of replies) {
      expect(reply.status).toBe(503);
      expect(reply.headers["retry-after"]).toMatch(/^[1-9][0-9]*$/);
      expect(problem(reply)).toMatchObject({
        type: "urn:ledgerctl:problem:unavailable",
        title: "Service unavailable",
        code: "UNAVAILABLE",
      });
      expect(reply.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
    }
    expect((await service.get("/healthz")).status).toBe(200);
    const ready = await until("not ready", async () => {
      const reply = await service.get("/readyz");
      return reply.status === 503 && reply;
    });
    expect(ready.headers["retry-after"]).toMatch(/^[1-3]$/);
    await proxy.comeBack();
    await postEntry(service, entry());
    expect((await listEntries(service)).total).toBe(total + 1);
    await until("ready again", async () => (await service.get("/readyz")).status === 200);
  });

  test("for a moment is waited for", async () => {
    const { total } = await listEntries(service);
    await proxy.goAway();
    const posting = Promise.all(Array.from({ length: 5 }, () => postEntry(service, entry())));
    setTimeout(() => void proxy.comeBack(), 200);
    await posting;
    expect((await listEntries(service)).total).toBe(total + 5);
  });
});

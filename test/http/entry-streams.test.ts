// The stream of a journal: every entry, once and in order of sequence, on every server, over reconnects too.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LedgerClient, type Entry } from "../../src/client/ledger-client.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { revokeApiKey } from "../../src/store/api-keys.ts";
import { openNetwork } from "../chaos/network.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import {
  entriesPath,
  entry,
  pointers,
  postEntry,
  problem,
  reverseEntry,
} from "../support/entries.ts";
import { entryStreamTarget, openEntryStream } from "../support/entry-reader.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { refusedUpgrade, signedHeaders } from "../support/stream-reader.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

let books: TestBooks;
let engine: TestEngine;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  books = await createBooks();
  engine = openEngine(books.databaseUrl);
  [one, two] = [await startService(books, neverPosting), await startService(books, neverPosting)];
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop(), engine.end()]);
  await books.drop();
});

/** All entries of a ledger, as the list has them. */
async function listed(ledgerId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.sequence ?? 0;
    const reply = await one.get(`${entriesPath(ledgerId)}?limit=100&after=${after}`);
    const page = reply.body as { entries: Entry[]; hasMore: boolean };
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
  }
}

const bulkOf = (count: number) => ({ entries: Array.from({ length: count }, () => entry(1)) });

const sequences = (entries: readonly Entry[]) => entries.map(({ sequence }) => sequence);
const upTo = (count: number, from = 1) =>
  Array.from({ length: count - from + 1 }, (_, index) => from + index);

/** What of an entry never changes: whether it was reversed since is not in it. */
const documents = (entries: readonly Entry[]) =>
  entries.map(({ reversedByJournalId: _, ...document }) => document);

describe.each(["on the writer's service", "on another service"])("a reader %s", (where) => {
  const reads = () => (where === "on another service" ? two : one);

  test("gets nothing on connect, then each entry that is posted, reversed or made for wallets", async () => {
    const ledgerId = await books.createLedger();
    await postEntry(one, entry(1), ledgerId);
    const reader = await openEntryStream(reads(), ledgerId);
    const metadata = { b: "é\u2028", a: [1, { c: null }] };
    const more = { externalId: "x", description: "a", metadata, spotRate: undefined };
    const { journalId } = await postEntry(one, entry(7, more), ledgerId);
    await reverseEntry(one, journalId, ledgerId);
    accepted(await move(one, newKey(one, ledgerId), "credit", 100));
    await engine.post(ledgerId);
    const reply = await one.post(`${entriesPath(ledgerId)}/bulk`, { ...bulkOf(3), atomic: true });
    expect(reply.status).toBe(201);
    await reader.reach(7);
    await reader.end();
    const all = await listed(ledgerId);
    expect(all).toHaveLength(7);
    expect(documents(reader.entries)).toEqual(documents(all.slice(1)));
    expect(reader.entries[0]?.metadata).toEqual(metadata);
  });

  test("with `since` gets what came after that sequence first, and nothing twice", async () => {
    const ledgerId = await books.createLedger();
    await one.post(`${entriesPath(ledgerId)}/bulk`, bulkOf(6));
    const readers = await Promise.all(
      [0, 3, 6, 1_000].map((since) => openEntryStream(reads(), ledgerId, { since })),
    );
    await postEntry(one, entry(1), ledgerId);
    const [all, some, live, later] = readers;
    await Promise.all([all?.reach(7), some?.reach(7), live?.reach(7)]);
    await Promise.all(readers.map((reader) => reader.end()));
    expect(sequences(all?.entries ?? [])).toEqual(upTo(7));
    expect(sequences(some?.entries ?? [])).toEqual([4, 5, 6, 7]);
    expect(sequences(live?.entries ?? [])).toEqual([7]);
    expect(later?.entries).toEqual([]);
  });

  test("gets the entries of its own ledger only", async () => {
    const [ledgerId, other] = [await books.createLedger(), await books.createLedger()];
    const reader = await openEntryStream(reads(), ledgerId);
    await postEntry(one, entry(1), other);
    await postEntry(one, entry(2), ledgerId);
    await reader.reach(1);
    await reader.end();
    expect(reader.entries.map(({ ledgerId: id }) => id)).toEqual([ledgerId]);
  });

  test("gets all entries in order while both services write", async () => {
    const ledgerId = await books.createLedger();
    const [early, late] = [
      await openEntryStream(reads(), ledgerId),
      await openEntryStream(reads(), ledgerId, { since: 0 }),
    ];
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0; index < 25; index += 1) {
        await postEntry(writer % 2 ? two : one, entry(1), ledgerId);
      }
    });
    await Promise.all(writers);
    await Promise.all([early.reach(200), late.reach(200)]);
    await Promise.all([early.end(), late.end()]);
    expect(sequences(early.entries)).toEqual(upTo(200));
    expect(documents(late.entries)).toEqual(documents(await listed(ledgerId)));
  });

  test("gets an entry of 700 KB, and those around it", async () => {
    const ledgerId = await books.createLedger();
    const reader = await openEntryStream(reads(), ledgerId, { since: 0 });
    const lines = Array.from({ length: 1_000 }, (_, index) => ({
      glAccountCode: "1000",
      functionalAmount: index % 2 ? "1" : "-1",
      description: "x".repeat(500),
    }));
    await postEntry(one, entry(1), ledgerId);
    await postEntry(one, { lines }, ledgerId);
    await postEntry(one, entry(1), ledgerId);
    await reader.reach(3);
    const again = await openEntryStream(reads(), ledgerId, { since: 0 });
    await again.reach(3);
    await Promise.all([reader.end(), again.end()]);
    expect(documents(reader.entries)).toEqual(documents(await listed(ledgerId)));
    expect(documents(again.entries)).toEqual(documents(reader.entries));
  });
});

test("a thousand readers of one journal get every entry, in order", async () => {
  const ledgerId = await books.createLedger();
  await one.post(`${entriesPath(ledgerId)}/bulk`, bulkOf(20));
  const readers = [];
  for (let count = 0; count < 10; count += 1) {
    const since = count % 2 ? { since: 0 } : {};
    readers.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, () => openEntryStream(one, ledgerId, since)),
      )),
    );
  }
  for (let index = 0; index < 10; index += 1) await postEntry(one, entry(1), ledgerId);
  await one.post(`${entriesPath(ledgerId)}/bulk`, bulkOf(100));
  await Promise.all(readers.map((reader) => reader.reach(130)));
  for (const [index, reader] of readers.entries()) {
    const isReplayed = Math.floor(index / 100) % 2 === 1;
    expect(sequences(reader.entries)).toEqual(upTo(130, isReplayed ? 1 : 21));
  }
  await Promise.all(readers.map((reader) => reader.end()));
});

describe("the client", () => {
  test("sees each entry once and in order, however often its connection is cut while two servers write", async () => {
    const ledgerId = await books.createLedger();
    const networks = [await openNetwork(one.port), await openNetwork(two.port)];
    const total = 1_500;
    const clients = networks.map(
      ({ port }) => new LedgerClient({ ...books.credentials, url: `http://127.0.0.1:${port}` }),
    );
    const writes = { areOver: false };
    let cuts = 0;
    const cutting = (async () => {
      while (!writes.areOver) {
        // Longer and longer: on a slow machine or on Citus, a page may take more than a connection lasts at first.
        await sleep(Math.random() * (60 + cuts));
        networks[cuts % 2]?.cut();
        cuts += 1;
      }
    })();
    const reading = clients.map(async (client) => {
      const seen: Entry[] = [];
      for await (const one of client.followEntries(ledgerId, { since: 0 })) {
        seen.push(one);
        if (seen.length === total) break;
      }
      return seen;
    });
    const writing = [one, two].map(async (service) => {
      for (let count = 0; count < total / 2; count += 50) {
        await service.post(`${entriesPath(ledgerId)}/bulk`, bulkOf(50));
        await sleep(100);
      }
    });
    const seen = await Promise.all(reading);
    await Promise.all(writing);
    writes.areOver = true;
    await cutting;
    for (const entries of seen) {
      expect(sequences(entries)).toEqual(upTo(total));
    }
    expect(cuts).toBeGreaterThan(5);
    await Promise.all(clients.map((client) => client.close()));
    for (const network of networks) network.close();
  });

  test("begins with the next entry without `since`, and ends when its reader breaks off", async () => {
    const ledgerId = await books.createLedger();
    await postEntry(one, entry(1), ledgerId);
    const client = new LedgerClient({ ...books.credentials, url: `http://127.0.0.1:${one.port}` });
    let posting: Promise<unknown> = Promise.resolve();
    const stream = client.followEntries(ledgerId, {
      onConnection: (state) => {
        if (state === "connected") posting = postEntry(one, entry(2), ledgerId);
      },
    });
    for await (const { sequence, lines } of stream) {
      expect([sequence, lines[0]?.functionalAmount]).toEqual([2, "2"]);
      break;
    }
    await posting;
    await client.close();
  });

  test("is refused a ledger that is not there, and throws", async () => {
    const client = new LedgerClient({ ...books.credentials, url: `http://127.0.0.1:${one.port}` });
    const stream = client.followEntries("0190b6a0-0000-7000-8000-000000000001", { since: 0 });
    const [first] = await Promise.allSettled([stream[Symbol.asyncIterator]().next()]);
    expect(first).toMatchObject({ status: "rejected", reason: { status: 404 } });
    await client.close();
  });
});

describe("a stream is refused", () => {
  test("as a problem: without a signature, a scope, a ledger; and a `since` that is none", async () => {
    const target = entryStreamTarget(books.ledgerId);
    const unsigned = await refusedUpgrade(one, target);
    expect([unsigned.status, unsigned.headers["content-type"]]).toEqual([
      401,
      "application/problem+json; charset=utf-8",
    ]);
    const writer = await books.createKey({ scopes: ["entries:write"] });
    const lacking = await refusedUpgrade(one, target, signedHeaders(writer, target));
    expect(problem(lacking)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const nowhere = entryStreamTarget("0190b6a0-0000-7000-8000-000000000001");
    const unknown = await refusedUpgrade(one, nowhere, signedHeaders(books.credentials, nowhere));
    expect(problem(unknown)).toMatchObject({ status: 404, title: "Ledger not found" });
    for (const since of ["-1", "x", "1.5", ""]) {
      const wrong = entryStreamTarget(books.ledgerId, since);
      const reply = await refusedUpgrade(one, wrong, signedHeaders(books.credentials, wrong));
      expect([reply.status, pointers(reply)]).toEqual([400, ["since"]]);
    }
  });

  test("to a plain GET with 426, which is not taken for the id of an entry", async () => {
    const reply = await one.get(entryStreamTarget(books.ledgerId));
    expect(reply).toMatchObject({ status: 426, headers: { upgrade: "websocket" } });
    expect((await one.get(`${entriesPath(books.ledgerId)}/streams`)).status).toBe(404);
  });
});

describe("a stream is closed", () => {
  test("with 1009 over a message of more than 4 KiB, and ignores others", async () => {
    const reader = await openEntryStream(one, books.ledgerId);
    reader.socket.send("x".repeat(4_096));
    reader.socket.send("x".repeat(4_097));
    expect(await reader.closed).toBe(1009);
  });

  test("with 1008 when its key is revoked", async () => {
    const credentials = await books.createKey();
    const reader = await openEntryStream(one, books.ledgerId, { credentials });
    await revokeApiKey(books.pool, credentials.apiKey, new Date().toISOString() as Timestamp);
    expect(await reader.closed).toBe(1008);
  });

  test("with 1001 when the server stops, and what was recorded before has come", async () => {
    const ledgerId = await books.createLedger();
    const stopping = await startService(books, neverPosting);
    const reader = await openEntryStream(stopping, ledgerId);
    await postEntry(stopping, entry(1), ledgerId);
    await reader.reach(1);
    await stopping.stop();
    expect(await reader.closed).toBe(1001);
  });

  test("with 1013 when its reader takes nothing, while others get everything", async () => {
    const ledgerId = await books.createLedger();
    const [sleeping, awake] = [
      await openEntryStream(one, ledgerId),
      await openEntryStream(one, ledgerId),
    ];
    sleeping.socket.pause();
    const metadata = { text: "x".repeat(60_000) };
    for (let count = 0; count < 20; count += 1) {
      const entries = Array.from({ length: 10 }, () => entry(1, { metadata }));
      const reply = await one.post(`${entriesPath(ledgerId)}/bulk`, { entries });
      expect(reply.status).toBe(200);
      // One that is a bulk behind or two, on a machine with much to do, takes nothing either.
      await awake.reach(10 * (count + 1));
    }
    expect(sequences(awake.entries)).toEqual(upTo(200));
    sleeping.socket.resume();
    expect(await sleeping.closed).toBe(1013);
    const { length } = sleeping.entries;
    expect(length).toBeLessThan(200);
    expect(sequences(sleeping.entries)).toEqual(upTo(length));
    await awake.end();
  });
});

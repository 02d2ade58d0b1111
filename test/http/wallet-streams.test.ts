// What streams tell: one message for every accepted write, in order, and one for every posting.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revokeApiKey } from "../../src/store/api-keys.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { openStream } from "../support/stream-reader.ts";
import {
  accepted,
  hold,
  move,
  newKey,
  readFigures,
  readWalletLog,
  refusal,
  resolve,
} from "../support/wallets.ts";
import { until } from "../support/until.ts";

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

describe.each([["on the writer's service"], ["on another service"]])("a reader %s", (where) => {
  const reads = () => (where === "on another service" ? two : one);

  test("gets nothing on connect, then one message for each accepted write, in order", async () => {
    const key = newKey(one);
    accepted(await move(one, key, "credit", 100));
    const reader = await openStream(reads(), key);
    accepted(await move(one, key, "credit", 10, { externalId: "x" }));
    refusal(await move(one, key, "debit", 1000), 422);
    expect((await move(one, key, "credit", 10, { externalId: "x" })).status).toBe(200);
    accepted(await move(one, key, "debit", 20));
    const committed = await hold(one, key, 30);
    const released = await hold(one, key, 5);
    accepted(await resolve(one, key, committed, "commit", { amount: "25" }));
    accepted(await resolve(one, key, released, "release"));
    await reader.reach(6);
    expect(reader.texts).toEqual(
      [
        ["110", "110"],
        ["90", "90"],
        ["90", "60"],
        ["90", "55"],
        ["65", "60"],
        ["65", "65"],
      ].map(([balance, available]) => JSON.stringify({ type: "balance", balance, available })),
    );
    await reader.end();
    expect(reader.messages).toHaveLength(6);
  });

  test("is told of the first write of a wallet", async () => {
    const key = newKey(one);
    const reader = await openStream(reads(), key);
    accepted(await move(one, key, "credit", 3));
    await reader.reach(1);
    expect(reader.texts).toEqual(['{"type":"balance","balance":"3","available":"3"}']);
    await reader.end();
  });

  test("is told of its own wallet only", async () => {
    const [a, b] = [newKey(one), newKey(one)];
    const [readerA, readerB] = [await openStream(reads(), a), await openStream(reads(), b)];
    const elsewhere = a.replace(books.ledgerId, await books.createLedger());
    for (const [key, amount] of [
      [a, 1],
      [b, 2],
      [elsewhere, 4],
      [a, 8],
      [b, 16],
    ] as const) {
      accepted(await move(one, key, "credit", amount));
    }
    await Promise.all([readerA.reach(2), readerB.reach(2)]);
    expect(readerA.messages.map(({ balance }) => balance)).toEqual(["1", "9"]);
    expect(readerB.messages.map(({ balance }) => balance)).toEqual(["2", "18"]);
    await Promise.all([readerA.end(), readerB.end()]);
  });

  test("is told of an expiry with the next write, in one message", async () => {
    const key = newKey(one);
    accepted(await move(one, key, "credit", 100));
    const reader = await openStream(reads(), key, { since: 1 });
    await hold(one, key, 40, { expiresInSeconds: 1 });
    await until("the expiry", async () => (await readFigures(one, key)).available === "100");
    accepted(await move(one, key, "credit", 1));
    await reader.reach(2);
    await reader.end();
    expect(reader.messages).toEqual([
      { type: "balance", balance: "100", available: "60", seq: 2 },
      { type: "balance", balance: "101", available: "101", seq: 4 },
    ]);
  });

  test("is not told of an expiry that a refusal has logged; a posting has the seq of the write before", async () => {
    const ledgerId = await books.createLedger();
    const key = newKey(one, ledgerId);
    accepted(await move(one, key, "credit", 100));
    const before = await openStream(reads(), key, { since: 1 });
    const holdId = await hold(one, key, 40, { expiresInSeconds: 1 });
    await until("the expiry", async () => (await readFigures(one, key)).available === "100");
    refusal(await resolve(one, key, holdId, "commit"), 409);
    expect((await readWalletLog(one, key)).map(({ type }) => type)).toEqual([
      "credit",
      "reserve",
      "expire",
    ]);
    const after = await openStream(reads(), key, { since: 3 });
    await engine.post(ledgerId);
    await Promise.all([before.reach(2), after.reach(1)]);
    const posting = { type: "balance", balance: "100", available: "100", seq: 2 };
    expect(before.messages).toEqual([{ ...posting, available: "60" }, posting]);
    expect(after.messages).toEqual([posting]);
    await Promise.all([before.end(), after.end()]);
  });

  test("gets one more when what it got is posted, with the latest figures", async () => {
    const ledgerId = await books.createLedger();
    const key = newKey(one, ledgerId);
    const reader = await openStream(reads(), key, { since: 0 });
    accepted(await move(one, key, "credit", 5));
    accepted(await move(one, key, "debit", 2));
    await reader.reach(2);
    await engine.post(ledgerId);
    await reader.reach(3);
    await hold(one, key, 1);
    await reader.reach(4);
    accepted(await move(one, newKey(one, ledgerId), "credit", 5));
    await engine.post(ledgerId);
    accepted(await move(one, key, "credit", 1));
    await reader.reach(5);
    await engine.post(ledgerId);
    await reader.reach(6);
    await reader.end();
    const told = reader.messages.map(({ seq, balance, available }) => [seq, balance, available]);
    expect(told).toEqual([
      [1, "5", "5"],
      [2, "3", "3"],
      [2, "3", "3"],
      [3, "3", "2"],
      [4, "4", "3"],
      [4, "4", "3"],
    ]);
  });

  test("is told of the posting of what was accepted before it came", async () => {
    const ledgerId = await books.createLedger();
    const key = newKey(one, ledgerId);
    accepted(await move(one, key, "credit", 5));
    const [plain, since] = [
      await openStream(reads(), key),
      await openStream(reads(), key, { since: 1 }),
    ];
    await engine.post(ledgerId);
    await Promise.all([plain.reach(1), since.reach(1)]);
    expect(plain.texts).toEqual(['{"type":"balance","balance":"5","available":"5"}']);
    expect(since.texts).toEqual(['{"type":"balance","balance":"5","available":"5","seq":1}']);
    await Promise.all([plain.end(), since.end()]);
  });

  test("with `since` gets what came before, from there, and each message has its seq", async () => {
    const key = newKey(one);
    for (let index = 0; index < 6; index += 1) accepted(await move(one, key, "credit", 1));
    const readers = await Promise.all(
      [0, 3, 6, 1000].map((since) => openStream(reads(), key, { since })),
    );
    accepted(await move(one, key, "credit", 1));
    const [all, some, live, later] = readers;
    await Promise.all([all?.reach(7), some?.reach(4), live?.reach(1)]);
    await Promise.all(readers.map((reader) => reader.end()));
    expect(all?.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(some?.messages.map(({ seq }) => seq)).toEqual([4, 5, 6, 7]);
    expect(live?.texts).toEqual(['{"type":"balance","balance":"7","available":"7","seq":7}']);
    expect(later?.messages).toEqual([]);
  });

  test("with `since` misses nothing over reconnects while writes go on", async () => {
    const key = newKey(one);
    const total = 200;
    const writing = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        const service = writer % 2 ? two : one;
        for (let index = 0; index < total / 4; index += 1) {
          accepted(await move(service, key, "credit", 1));
        }
      }),
    );
    const seen: number[] = [];
    while (seen.length < total) {
      const reader = await openStream(reads(), key, { since: seen.at(-1) ?? 0 });
      const isLast = ({ seq }: { seq?: number }) => seq === total;
      await Promise.race([reader.reach(seen.length % 7), reader.until(isLast)]);
      await reader.end();
      seen.push(...reader.messages.map(({ seq }) => seq ?? 0));
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => index + 1));
  });
});

test("every posting is told once, while the writer's service goes on writing", async () => {
  const ledgerId = await books.createLedger();
  const key = newKey(one, ledgerId);
  const reader = await openStream(two, key, { since: 0 });
  const writes = 150;
  const writing = { isOver: false };
  const posting = (async () => {
    while (!writing.isOver) await engine.post(ledgerId);
  })();
  for (let index = 0; index < writes; index += 1) accepted(await move(one, key, "credit", 1));
  writing.isOver = true;
  await posting;
  await engine.post(ledgerId);
  const log = await readWalletLog(one, key);
  const postings = new Set(log.map(({ journalId }) => journalId)).size;
  await reader.reach(writes + postings);
  // Whatever else there were would come before this.
  accepted(await move(one, key, "credit", 1));
  await reader.until(({ seq }) => seq === writes + 1);
  await reader.end();
  const told = reader.messages.filter(({ seq }, at) => seq !== reader.messages[at - 1]?.seq);
  const seqs = Array.from({ length: writes + 1 }, (_, at) => at + 1);
  expect(told.map(({ seq }) => seq)).toEqual(seqs);
  expect(reader.messages).toHaveLength(writes + 1 + postings);
});

test("readers that come while others of the wallet go get everything", async () => {
  const key = newKey(one);
  let last = await openStream(one, key);
  for (let round = 1; round <= 30; round += 1) {
    const opening = openStream(one, key);
    // Ends at some moment of the other's opening.
    for (let tick = 0; tick < round % 6; tick += 1) await new Promise(setImmediate);
    last.socket.terminate();
    const next = await opening;
    accepted(await move(one, key, "credit", 1));
    await next.reach(1);
    expect(next.messages[0]?.balance).toBe(String(round));
    last = next;
  }
  await last.end();
});

describe("a stream is closed", () => {
  test("with 1009 over a message of more than 4 KiB, of any kind", async () => {
    for (const message of ["x".repeat(4097), Buffer.alloc(4097), "é".repeat(2049)]) {
      const reader = await openStream(one, newKey(one));
      reader.socket.send(message);
      expect(await reader.closed).toBe(1009);
    }
  });

  test("never for other messages, which are ignored", async () => {
    const key = newKey(one);
    const reader = await openStream(one, key);
    const messages = [
      "",
      "x".repeat(4096),
      '{"type":"balance"}',
      "{",
      "\0",
      Buffer.alloc(4096, 255),
    ];
    for (const message of messages) reader.socket.send(message);
    reader.socket.ping("anybody?");
    await new Promise((resolve) => reader.socket.once("pong", resolve));
    accepted(await move(one, key, "credit", 1));
    await reader.reach(1);
    await reader.end();
    expect(reader.messages).toHaveLength(1);
  });

  test("with 1008 when its key is revoked, others' streams are not", async () => {
    const key = newKey(one);
    const credentials = await books.createKey();
    const [revoked, kept] = [
      await openStream(one, key, { credentials }),
      await openStream(one, key),
    ];
    const elsewhere = await openStream(two, key, { credentials, since: 0 });
    await revokeApiKey(books.pool, credentials.apiKey, new Date().toISOString() as Timestamp);
    expect(await revoked.closed).toBe(1008);
    expect(await elsewhere.closed).toBe(1008);
    accepted(await move(one, key, "credit", 1));
    await kept.reach(1);
    await kept.end();
  });

  test("with 1008 when its key expires", async () => {
    const expiresAt = new Date(Date.now() + 1500).toISOString();
    const credentials = await books.createKey({ expiresAt });
    const reader = await openStream(one, newKey(one), { credentials });
    expect(await reader.closed).toBe(1008);
  });

  test("with 1001 when the server stops, and what was accepted before has been told", async () => {
    const stopping = await startService(books, neverPosting);
    const key = newKey(one);
    const reader = await openStream(stopping, key);
    accepted(await move(stopping, key, "credit", 1));
    await stopping.stop();
    expect(await reader.closed).toBe(1001);
    expect(reader.messages[0]).toMatchObject({ balance: "1" });
  });
});

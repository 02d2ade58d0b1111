// Readers of streams that do not read: what they are sent, and how they are let go.
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { neverPosting } from "../support/engine.ts";
import { readRows } from "../support/rows.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import {
  openStream,
  FrameReader,
  sendUpgrade,
  signedHeaders,
  streamTarget,
  type StreamMessage,
} from "../support/stream-reader.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

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

const opcodes = { text: 1, close: 8 } as const;

interface SleepingReader {
  readonly socket: Socket;
  /** Reads to the end of the connection, or ends it at a message that passes. */
  wake(
    isLast?: (message: StreamMessage) => boolean,
  ): Promise<{ messages: StreamMessage[]; code: number | null }>;
}

/** A stream whose reader stops reading once the upgrade is answered. */
async function openSleepingReader(
  on: TestService,
  key: string,
  since?: number,
): Promise<SleepingReader> {
  const target = streamTarget(key, since);
  const socket = sendUpgrade(on, target, signedHeaders(books.credentials, target));
  const [head] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  expect(head.toString("latin1")).toMatch(/^HTTP\/1\.1 101 /);
  socket.on("error", () => undefined);
  const reader = new FrameReader();
  // The first messages may have come in one packet with the upgrade's answer.
  const early = reader.read(head.subarray(head.indexOf("\r\n\r\n") + 4));
  const wake: SleepingReader["wake"] = async (isLast = () => false) => {
    const messages: StreamMessage[] = [];
    let code: number | null = null;
    const take = ({ opcode, payload }: { opcode: number; payload: Buffer }) => {
      if (opcode === opcodes.text) messages.push(JSON.parse(payload.toString()) as StreamMessage);
      if (opcode === opcodes.close) code = payload.readUInt16BE(0);
    };
    early.forEach(take);
    socket.on("data", (chunk: Buffer) => {
      reader.read(chunk).forEach(take);
      const last = messages.at(-1);
      // The server waits for the answer to its close; ending the connection is one.
      if (code !== null || (last !== undefined && isLast(last))) socket.end();
    });
    const closed = once(socket, "close");
    socket.resume();
    await closed;
    return { messages, code };
  };
  return { socket, wake };
}

/** Figures so long that few messages fill what the kernel takes of a stream. */
const digits = 1_500;
const balanceOf = (seq: number) => `${seq}${"0".repeat(digits)}`;

/** Appends to a wallet's log as another server would, without the work of accepting each write. */
async function appendToLog(key: string, total: number): Promise<void> {
  const [ledgerId, callerKey] = [key.slice(0, 36), key.slice(37)];
  await readRows(
    service,
    `WITH grown AS (
       UPDATE wallets SET last_seq = last_seq + $3, balance = ((last_seq + $3) || repeat('0', $4))::numeric
        WHERE ledger_id = $1 AND caller_key = $2
        RETURNING wallet_id, last_seq - $3 AS first_seq
     )
     INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, at)
     SELECT $1::uuid, wallet_id, seq, 'credit', 1, (seq || repeat('0', $4))::numeric, 0, now()
       FROM grown, generate_series(first_seq + 1, first_seq + $3::bigint) AS seq`,
    [ledgerId, callerKey, total, digits],
  );
}

async function newWallet(): Promise<string> {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 1));
  return key;
}

const many = 2_500;

test("a reader with `since` that does not read is closed with 1013, and goes on where it left off", async () => {
  const key = await newWallet();
  const sleeping = await openSleepingReader(service, key, 1);
  const awake = await openStream(service, key, { since: 1 });
  await appendToLog(key, many);
  await awake.reach(many);
  const { messages, code } = await sleeping.wake();
  expect(code).toBe(1013);
  expect(messages.length).toBeLessThan(many);
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 2));
  await awake.end();
  const last = messages.length + 1;
  const again = await openStream(service, key, { since: last });
  await again.reach(many + 1 - last);
  await again.end();
  const missed = Array.from({ length: many + 1 - last }, (_, index) => last + 1 + index);
  expect(again.messages.map(({ seq }) => seq)).toEqual(missed);
});

test("a log that is replayed waits for its reader, however slow it is", async () => {
  const key = await newWallet();
  await appendToLog(key, many);
  const sleeping = await openSleepingReader(service, key, 0);
  const awake = await openStream(service, key, { since: 0 });
  await awake.reach(many + 1);
  accepted(await move(service, key, "credit", 1));
  await awake.reach(many + 2);
  await awake.end();
  const reading = sleeping.wake((message) => message.seq === many + 2);
  const { messages, code } = await reading;
  expect(code).toBeNull();
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 1));
  expect(messages).toHaveLength(many + 2);
});

test("what is written while a log is replayed comes after it, however much it is", async () => {
  const key = await newWallet();
  await appendToLog(key, many);
  const sleeping = await openSleepingReader(service, key, 0);
  const awake = await openStream(service, key, { since: many });
  await appendToLog(key, many);
  await awake.reach(many + 1);
  await awake.end();
  const { messages, code } = await sleeping.wake((message) => message.seq === 2 * many + 1);
  expect(code).toBeNull();
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index + 1));
  expect(messages).toHaveLength(2 * many + 1);
});

test("a plain reader that slept gets the latest figures in place of what it missed", async () => {
  const key = await newWallet();
  const sleeping = await openSleepingReader(service, key);
  const awake = await openStream(service, key, { since: 1 });
  await appendToLog(key, many);
  await awake.reach(many);
  await awake.end();
  const latest = balanceOf(many + 1);
  const { messages, code } = await sleeping.wake(({ balance }) => balance === latest);
  expect(code).toBeNull();
  expect(messages.length).toBeLessThan(many);
  const firsts = messages.slice(0, -1).map(({ balance }) => balance);
  expect(firsts).toEqual(firsts.map((_, index) => balanceOf(index + 2)));
});

test("a plain reader that has caught up gets no older figures after newer ones", async () => {
  for (let round = 0; round < 2; round += 1) {
    const key = await newWallet();
    const sleeping = await openSleepingReader(service, key);
    const awake = await openStream(service, key, { since: 1 });
    await appendToLog(key, many);
    await awake.reach(many);
    const last = BigInt(balanceOf(many + 1)) + 100n;
    const waking = sleeping.wake(({ balance }) => BigInt(balance) === last);
    for (let count = 0; count < 100; count += 1) accepted(await move(service, key, "credit", 1));
    const { messages } = await waking;
    await awake.end();
    const balances = messages.map(({ balance }) => BigInt(balance));
    const backwards = balances.filter((balance, index) => balance < (balances[index - 1] ?? 0n));
    expect(backwards).toEqual([]);
  }
});

test("a plain reader that sleeps on is closed with 1013, and others get everything meanwhile", async () => {
  const key = await newWallet();
  const sleeping = await openSleepingReader(service, key);
  const awake = await openStream(service, key, { since: 1 });
  await appendToLog(key, many);
  await awake.reach(many);
  // Readers have 10 s to catch up.
  await sleep(12_000);
  const { messages, code } = await sleeping.wake();
  expect(code).toBe(1013);
  expect(messages.length).toBeLessThan(many);
  accepted(await move(service, key, "credit", 1));
  await awake.reach(many + 1);
  await awake.end();
});

test("a server that stops does not wait for readers that do not read", async () => {
  const stopping = await startService(books, neverPosting);
  const key = await newWallet();
  const sleeping = await openSleepingReader(stopping, key);
  const awake = await openStream(stopping, key);
  await appendToLog(key, many);
  await awake.reach(many);
  await stopping.stop();
  expect(await awake.closed).toBe(1001);
  const { messages } = await sleeping.wake();
  expect(messages.length).toBeLessThan(many);
});

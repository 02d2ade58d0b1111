// Many clients at random over two servers on one database: every reply agrees with the log, the log with
// itself, the streams with the log, and the ledger with the wallets.
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { nowSeconds, sign } from "../support/signed-request.ts";
import { expectConsistentLog, readLog, type LoggedRow } from "../support/wallet-oracle.ts";

const clients = 24;
const stepsPerClient = 60;
const walletNames = ["a", "b", "c", "ü/ß", "e:f"];

let books: TestBooks;
let services: TestService[];

beforeAll(async () => {
  books = await createBooks();
  services = [
    await startService(books, { variables: { LEDGERCTL_POST_INTERVAL_MS: "200" } }),
    await startService(books, { variables: { LEDGERCTL_POST_INTERVAL_MS: "200" } }),
  ];
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await books.drop();
});

interface Made {
  readonly walletKey: string;
  readonly externalId: string | null;
  readonly status: number;
  readonly reply: { status?: string; balance?: string; available?: string; holdId?: string | null };
}

/** A generator that a seed replays. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function pick<Item>(list: readonly Item[], next: (below: number) => number): Item | undefined {
  return list[next(list.length)];
}

async function client(number: number, made: Made[]): Promise<void> {
  const next = random(number + 1);
  const holds: { walletKey: string; holdId: string }[] = [];
  for (let step = 0; step < stepsPerClient; step += 1) {
    const service = pick(services, next);
    const name = pick(walletNames, next);
    if (service === undefined || name === undefined) throw new Error("nothing to pick from");
    const walletKey = `${books.ledgerId}:${encodeURIComponent(name)}`;
    const amount = String(1 + next(500));
    // One key in eight is one that was used before, by whichever client.
    const externalId = next(8) === 0 ? `k-${next(step * clients + 1)}` : `k-${number}-${step}`;
    const body = { amount, assetCode: "USD", externalId };
    const post = async (path: string, content: unknown, key: string | null) => {
      const { status, body: json } = await service.post(
        `/v1/wallets/${walletKey}/${path}`,
        content,
      );
      made.push({ walletKey, externalId: key, status, reply: json as Made["reply"] });
      return json as Made["reply"];
    };
    const kind = next(10);
    if (kind < 4) await post("credit", body, externalId);
    else if (kind < 6) await post("debit", body, externalId);
    else if (kind < 8) {
      const expiry = next(3) === 0 ? { expiresInSeconds: 1 } : {};
      const { holdId } = await post("reserve", { ...body, ...expiry }, externalId);
      if (holdId) holds.push({ walletKey, holdId });
    } else {
      const hold = pick(holds, next);
      if (hold === undefined) continue;
      const verb = next(2) === 0 ? "commit" : "release";
      const path = `/v1/wallets/${hold.walletKey}/holds/${hold.holdId}/${verb}`;
      const content = verb === "commit" && next(2) === 0 ? { amount: "1" } : undefined;
      const { status, body: json } = await service.post(path, content);
      made.push({
        walletKey: hold.walletKey,
        externalId: null,
        status,
        reply: json as Made["reply"],
      });
    }
  }
}

interface Reader {
  readonly walletKey: string;
  readonly messages: { type: string; balance: string; available: string; seq: number }[];
  readonly socket: WebSocket;
}

async function openReader(service: TestService, walletKey: string): Promise<Reader> {
  const target = `/v1/wallets/${walletKey}/ws?since=0`;
  const { apiKey, apiSecret } = books.credentials;
  const timestamp = String(nowSeconds());
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "x-timestamp": timestamp,
    "x-signature": sign(apiSecret, { timestamp, method: "GET", target, body: "" }),
  };
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${target}`, { headers });
  const messages: Reader["messages"] = [];
  socket.on("message", (data: Buffer) => {
    messages.push(JSON.parse(data.toString()) as Reader["messages"][number]);
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return { walletKey, messages, socket };
}

describe("wallets under many clients on two servers", () => {
  it("agree with every reply, with their streams and with the ledger", async () => {
    const walletKeys = walletNames.map((name) => `${books.ledgerId}:${encodeURIComponent(name)}`);
    const readers = await Promise.all(
      services.flatMap((service) => walletKeys.map((key) => openReader(service, key))),
    );
    const made: Made[] = [];
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number, made)));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200, 409, 422]));

    const [service] = services;
    if (service === undefined) throw new Error("a service runs");
    const logs = new Map<string, LoggedRow[]>();
    let total = 0n;
    for (const walletKey of walletKeys) {
      const log = await readLog(service, walletKey);
      const { balance } = expectConsistentLog(log);
      total += balance;
      logs.set(walletKey, log);
      const read = await service.get(`/v1/wallets/${walletKey}/balance`);
      expect((read.body as { balance: string }).balance).toBe(String(balance));
    }
    expectRepliesInLogs(made, logs);

    await expectPosted(service, walletKeys, total);
    for (const reader of readers) expectStream(reader, logs.get(reader.walletKey) ?? []);
    for (const { socket } of readers) socket.close();
  });
});

function expectRepliesInLogs(made: readonly Made[], logs: ReadonlyMap<string, LoggedRow[]>): void {
  for (const { walletKey, externalId, status, reply } of made) {
    if (externalId === null) continue;
    const rows = (logs.get(walletKey) ?? []).filter((row) => row.externalId === externalId);
    if (status === 200 && reply.status === "accepted") {
      const [row] = rows;
      expect(rows).toHaveLength(1);
      expect(reply.balance).toBe(row?.balance);
      expect(reply.available).toBe(String(BigInt(row?.balance ?? 0) - BigInt(row?.held ?? 0)));
    } else if (status === 200) {
      expect(reply.status).toBe("duplicate");
      expect(rows).toHaveLength(1);
    }
  }
}

/** Σ wallets = −(ledger), once nothing is pending; every write that moved money names its entry. */
async function expectPosted(
  service: TestService,
  walletKeys: readonly string[],
  total: bigint,
): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const logs = await Promise.all(walletKeys.map((key) => readLog(service, key)));
    const moving = logs.flat().filter(({ type }) => ["credit", "debit", "commit"].includes(type));
    if (moving.every(({ journalId }) => journalId !== null)) {
      const account = encodeURIComponent("wallets:USD");
      const held = await service.get(`/v1/ledgers/${books.ledgerId}/balances?account=${account}`);
      expect((held.body as { balance: number }).balance).toBe(Number(-total));
      return;
    }
    await sleep(100);
  }
  throw new Error("what wallets accepted was not posted");
}

/** Writes once each and in order; a posting repeats the figures of the write before it. */
function expectStream({ messages }: Reader, log: readonly LoggedRow[]): void {
  const told = log.filter(({ type }) => type !== "expire");
  const writes = messages.filter(({ seq }, index) => seq !== messages[index - 1]?.seq);
  expect(writes.map(({ seq }) => seq)).toEqual(told.map(({ seq }) => seq));
  for (const { seq, balance, available } of messages) {
    const row = log[seq - 1];
    expect(balance).toBe(row?.balance);
    expect(available).toBe(String(BigInt(row?.balance ?? 0) - BigInt(row?.held ?? 0)));
  }
}

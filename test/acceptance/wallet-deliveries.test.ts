// Deliveries of wallet writes by real servers: every row of every log, numbered across wallets and in order of each, whoever
// wrote it, however receivers and servers fail; and ledgers without such a delivery number nothing.
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient, type DeliveryMessage } from "../../src/client/ledger-client.ts";
import { runStatement } from "../support/database.ts";
import { startDeliveringServers, type DeliveringServers } from "../support/delivering-servers.ts";
import { runHere } from "../support/program.ts";
import {
  acceptingAfter,
  answering,
  onceEach,
  openReceiver,
  type Receiver,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";

type WalletEvent = Extract<DeliveryMessage["events"][number], { type: "wallet" }>;

let running: DeliveringServers;
let client: LedgerClient;
/** Of the two servers. */
let clients: readonly LedgerClient[];

beforeAll(async () => {
  running = await startDeliveringServers();
  ({ client } = running);
  clients = running.servers.map((server) => new LedgerClient(running.connectionTo(server)));
});

afterAll(async () => {
  for (const each of clients) await each.close();
  await running.end();
});

const newLedger = () => running.books.createLedger();
const wallet = (ledgerId: string, callerKey: string) => ({ ledgerId, callerKey });
const money = (amount: number) => ({ amount: String(amount), assetCode: "USD" });
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const walletEvents = (receiver: Receiver): WalletEvent[] =>
  onceEach(receiver.events).filter((event) => event.type === "wallet");

/** The seqs that a receiver was given of each wallet, in the order in which they came first. */
function seqsByWallet(receiver: Receiver): Map<string, number[]> {
  const seqs = new Map<string, number[]>();
  for (const { data } of walletEvents(receiver)) {
    seqs.set(data.callerKey, [...(seqs.get(data.callerKey) ?? []), data.seq]);
  }
  return seqs;
}

async function lastSeqs(ledgerId: string): Promise<Map<string, number>> {
  const { wallets } = await client.listWallets(ledgerId, { limit: 100 });
  return new Map(wallets.map(({ callerKey, seq }) => [callerKey, seq]));
}

/**
 * Writers on both servers, who credit and transfer among 30 wallets one request after the other. Rejects where one failed, when
 * all others have ended.
 */
async function writeMuch(ledgerId: string, rounds: number): Promise<void> {
  const writers = upTo(6).map(async (writer) => {
    const own = clients[writer % clients.length] ?? client;
    for (const round of upTo(rounds)) {
      const keys = upTo(5).map((step) => `w${(writer * 7 + round * step) % 30}`);
      await own.writeWallets(
        ledgerId,
        keys.map((callerKey) => ({ callerKey, type: "credit" as const, ...money(10) })),
      );
      const [from = ""] = keys;
      const to = `w${(writer + round) % 30}`;
      if (from !== to) await own.transferFunds(ledgerId, [{ from, to, ...money(1) }]);
    }
  });
  await Promise.allSettled(writers);
  await Promise.all(writers);
}

/** Waits until a receiver has all rows of all logs, and expects each once, numbered from 1, and in order of its wallet. */
async function expectWhole(receiver: Receiver, ledgerId: string): Promise<void> {
  const last = await lastSeqs(ledgerId);
  const count = [...last.values()].reduce((sum, seq) => sum + seq, 0);
  await until("all rows", () => walletEvents(receiver).length >= count);
  expect(walletEvents(receiver).map(({ cursor }) => Number(cursor))).toEqual(upTo(count));
  expect(seqsByWallet(receiver)).toEqual(
    new Map([...last].map(([callerKey, seq]) => [callerKey, upTo(seq)])),
  );
}

describe("a receiver of wallet writes", () => {
  it("gets rows of every kind as the logs have them, and entries beside them with cursors of their own", async () => {
    const ledgerId = await newLedger();
    const [a, b] = [wallet(ledgerId, "a"), wallet(ledgerId, "b")];
    await client.creditWallet(a, money(1_000));
    const receiver = await openReceiver();
    const made = await running.deliverTo(receiver, ledgerId, { events: ["entry", "wallet"] });
    expect(made).toMatchObject({ walletCursor: "0", walletLag: 0 });
    await client.creditWallet(a, { ...money(5), externalId: "e", metadata: "m" });
    const { holdId } = await client.reserveFunds(a, money(50));
    await client.releaseHold(a, holdId);
    await client.transferFunds(ledgerId, [{ from: "a", to: "b", ...money(20) }]);
    const brief = await client.reserveFunds(a, { ...money(7), expiresInSeconds: 1 });
    await client.freezeWallet(b);
    await client.unfreezeWallet(b);
    await until("an expiry", async () => {
      const { balance, available } = await client.getWalletBalance(a);
      return balance === available;
    });
    await client.debitWallet(a, money(1));
    await until("all rows", () => walletEvents(receiver).length === 10);
    await until("a posting", () => receiver.events.some(({ type }) => type === "entry"));
    const logOf = async (callerKey: string) =>
      (await client.listWalletWrites(wallet(ledgerId, callerKey))).writes.map((row) => ({
        ...row,
        journalId: null,
        callerKey,
        assetCode: "USD",
      }));
    const delivered = walletEvents(receiver).map(({ data }) => ({ ...data, journalId: null }));
    const ofWallet = (key: string) => delivered.filter(({ callerKey }) => callerKey === key);
    expect(ofWallet("a")).toEqual((await logOf("a")).slice(1));
    expect(ofWallet("b")).toEqual(await logOf("b"));
    expect(ofWallet("a").map(({ type }) => type)).toEqual([
      ...["credit", "reserve", "release", "transfer-out", "reserve", "expire", "debit"],
    ]);
    expect(ofWallet("a").find(({ type }) => type === "expire")?.holdId).toBe(brief.holdId);
    expect(ofWallet("b").map(({ type }) => type)).toEqual(["transfer-in", "freeze", "unfreeze"]);
    expect(walletEvents(receiver).map(({ cursor }) => cursor)).toEqual(upTo(10).map(String));
    await until("the cursors", async () => {
      const { lag, walletLag, walletCursor } = await running.find(ledgerId, made.id);
      return lag === 0 && walletLag === 0 && walletCursor === "10";
    });
    // A posting may be made between the two looks.
    await until("the entries, with cursors of the journal", async () => {
      const delivered = onceEach(receiver.events)
        .filter(({ type }) => type === "entry")
        .map(({ cursor }) => cursor);
      const { entries } = await client.listEntries(ledgerId, { limit: 100 });
      const cursors = entries.map(({ sequence }) => `${sequence}.0`);
      return isDeepStrictEqual(delivered, cursors.slice(-delivered.length));
    });
    await receiver.goAway();
  });

  it("that answers 500, hangs or is slow gets each row of two servers' writers once and in order of its wallet", async () => {
    const ledgerId = await newLedger();
    const receivers = await Promise.all(upTo(4).map(() => openReceiver()));
    const [failing, hanging, slow, well] = receivers as [Receiver, Receiver, Receiver, Receiver];
    for (const receiver of receivers) {
      await running.deliverTo(receiver, ledgerId, { events: ["wallet"] });
    }
    failing.answer = answering(500);
    hanging.answer = null;
    slow.answer = acceptingAfter(200);
    await writeMuch(ledgerId, 12);
    await expectWhole(well, ledgerId);
    await until("failures", () => failing.requestCount() > 1 && hanging.requestCount() > 0);
    failing.answer = well.answer;
    hanging.answer = well.answer;
    for (const receiver of receivers) {
      await expectWhole(receiver, ledgerId);
      await receiver.goAway();
    }
  });

  it("misses nothing, and has nothing twice but what it had not answered, where a server that writes and delivers is killed", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    receiver.answer = acceptingAfter(30);
    await running.deliverTo(receiver, ledgerId, { events: ["wallet"] });
    // Writers of the server that is killed fail; what it had committed stays.
    const writing = Promise.allSettled([writeMuch(ledgerId, 15)]);
    await receiver.reach(20);
    await running.replaceLast();
    const [first] = clients;
    clients = [
      first ?? client,
      new LedgerClient(running.connectionTo(running.servers[1] as never)),
    ];
    await writing;
    await writeMuch(ledgerId, 3);
    await expectWhole(receiver, ledgerId);
    const cursors = receiver.events.map(({ cursor }) => Number(cursor));
    const steps = cursors.slice(1).map((cursor, index) => cursor - (cursors[index] ?? 0));
    // A request that comes again begins behind the last that was answered: never beyond the next number.
    expect(Math.max(...steps)).toBe(1);
    await receiver.goAway();
  });

  it("that is added while batches are under way gets a whole rest of each log", async () => {
    const ledgerId = await newLedger();
    const writing = writeMuch(ledgerId, 12);
    const receivers: Receiver[] = [];
    while (receivers.length < 3) {
      const receiver = await openReceiver();
      await running.deliverTo(receiver, ledgerId, { events: ["wallet"] });
      receivers.push(receiver);
    }
    await writing;
    const last = await lastSeqs(ledgerId);
    for (const receiver of receivers) {
      const made = (await client.listDeliveries(ledgerId)).find(({ url }) => url === receiver.url);
      await until("the end", async () => {
        return (await running.find(ledgerId, made?.id ?? "")).walletLag === 0;
      });
      for (const [callerKey, seqs] of seqsByWallet(receiver)) {
        const [first = 0] = seqs;
        expect(seqs).toEqual(upTo(last.get(callerKey) ?? 0).slice(first - 1));
      }
      await receiver.goAway();
    }
  });
});

describe("a delivery of wallet writes", () => {
  it("is replayed from a number, and begins where numbers do after the last of a ledger was removed", async () => {
    const ledgerId = await newLedger();
    const a = wallet(ledgerId, "a");
    const receiver = await openReceiver();
    const { id } = await running.deliverTo(receiver, ledgerId, { events: ["wallet"] });
    const run = (...args: string[]) =>
      runHere(["delivery", ...args], { ...running.env, LEDGERCTL_LEDGER: ledgerId });
    for (const amount of upTo(3)) await client.creditWallet(a, money(amount));
    await receiver.reach(3);
    await until("the end", async () => (await running.find(ledgerId, id)).walletLag === 0);
    const replayed = await run("replay", id, "--wallet-since", "1");
    expect(replayed.stdout).toMatch(/^goes on from \d+\.0, wallet writes 1\n$/);
    await receiver.reach(5);
    expect(receiver.events.map(({ cursor }) => cursor)).toEqual(["1", "2", "3", "2", "3"]);
    for (const [args, message] of [
      [["--wallet-since", "4"], /beyond what the ledger has: 3/],
      [["--wallet-since", "1.0"], /must be a cursor of wallet writes/],
      [[], /--since, --wallet-since or both/],
    ] as const) {
      const refused = await run("replay", id, ...args);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toMatch(message);
    }
    const numbered =
      "SELECT FROM ledger_states WHERE ledger_id = $1 AND wallets_ordered_after = $2";
    const isNumberedAfter = async (number: number) =>
      (await runStatement(running.database.url, numbered, [ledgerId, String(number)])) === 1;
    expect(await isNumberedAfter(0)).toBe(true);
    expect((await run("remove", id)).code).toBe(0);
    expect(await isNumberedAfter(0)).toBe(false);
    await client.creditWallet(a, money(4));
    const wanted = { url: receiver.url, events: ["wallet"] as const };
    const early = client.createDelivery(ledgerId, {
      ...{ ...wanted, events: ["wallet"] },
      walletSince: "2",
    });
    await expect(early).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ pointer: "#/walletSince" }] },
    });
    const again = await running.deliverTo(receiver, ledgerId, {
      events: ["wallet"],
      walletSince: "3",
    });
    expect(again.walletCursor).toBe("3");
    expect(await isNumberedAfter(3)).toBe(true);
    await client.creditWallet(a, money(5));
    await receiver.reach(6);
    expect(receiver.events.at(-1)).toMatchObject({ cursor: "4", data: { amount: "5", seq: 5 } });
    const other = await running.deliverTo(receiver, ledgerId);
    expect(other).toMatchObject({ walletCursor: null, walletLag: null });
    const misplaced = client.replayDelivery(ledgerId, other.id, { walletSince: "4" });
    await expect(misplaced).rejects.toMatchObject({ status: 400 });
    await client.deleteDelivery(ledgerId, again.id);
    await client.deleteDelivery(ledgerId, other.id);
    await receiver.goAway();
  });

  it("that is far behind sends what fits a request, and then the rest", async () => {
    const ledgerId = await newLedger();
    const receiver = await openReceiver();
    const { id } = await running.deliverTo(receiver, ledgerId, { events: ["wallet"] });
    await client.pauseDelivery(ledgerId, id);
    const write = (callerKey: string) => ({ callerKey, type: "credit" as const, ...money(1) });
    await client.writeWallets(
      ledgerId,
      upTo(1_000).map((number) => write(`w${number % 30}`)),
    );
    const metadata = "m".repeat(60_000);
    for (const number of upTo(10)) {
      await client.creditWallet(wallet(ledgerId, `w${number}`), { ...money(1), metadata });
    }
    expect((await running.find(ledgerId, id)).walletLag).toBe(1_010);
    await client.resumeDelivery(ledgerId, id);
    await expectWhole(receiver, ledgerId);
    const sizes = receiver.requests.map(({ body }) => ({
      events: (JSON.parse(body) as DeliveryMessage).events.length,
      bytes: body.length,
    }));
    expect(sizes.map(({ events }) => events)).toEqual([500, 500, 4, 4, 2]);
    for (const { bytes } of sizes) expect(bytes).toBeLessThan(300_000);
    await receiver.goAway();
  });

  it("leaves nothing that an audit misses, and nothing in ledgers without one", async () => {
    const without = await newLedger();
    await writeMuch(without, 1);
    const ofLedger = "SELECT FROM ordered_wallet_writes WHERE ledger_id = $1";
    expect(await runStatement(running.database.url, ofLedger, [without])).toBe(0);
    const audit = await runHere(["audit", "--json"], running.env);
    expect(audit, audit.stdout).toMatchObject({ code: 0 });
  });
});

// The database's connections break under writes to wallets: every answer has to stay true.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { neverPosting } from "../support/engine.ts";
import { problem } from "../support/entries.ts";
import { countRows, lockWaiters, readRows } from "../support/rows.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { openStream } from "../support/stream-reader.ts";
import { expectConsistentLog } from "../support/wallet-oracle.ts";
import {
  accepted,
  expectDuplicate,
  expectFigures,
  hold,
  move,
  movement,
  newKey,
  readWalletLog,
  refusal,
  resolve,
  walletPath,
  type WalletReply,
} from "../support/wallets.ts";
import { until } from "../support/until.ts";

let books: TestBooks;
let proxy: CuttingProxy;
/** Behind the proxy, and beside it. */
let service: TestService;
let other: TestService;

beforeAll(async () => {
  books = await createBooks();
  proxy = await openCuttingProxy(books.databaseUrl);
  service = await startService(books, { ...neverPosting, databaseUrl: proxy.url });
  other = await startService(books, neverPosting);
});

afterAll(async () => {
  await Promise.all([service.stop(), other.stop()]);
  await proxy.close();
  await books.drop();
});

/** The ledger's id, and the caller's key in it. */
const partsOf = (key: string) => [key.slice(0, 36), key.slice(37)];

const points = ["beforeCommit", "afterCommit", "withCommit"] as const;

describe.each(points)("a connection that is cut around COMMIT (%s)", (point) => {
  test.each([
    ["with an externalId", { externalId: "cut" }],
    ["without an externalId", {}],
  ])("costs a credit %s nothing and doubles nothing", async (_, more) => {
    for (const isNew of [true, false]) {
      const key = newKey(service);
      if (!isNew) accepted(await move(service, key, "credit", 100));
      const before = isNew ? 0 : 100;
      const cut = proxy.cutNext(point);
      const reply = await move(service, key, "credit", 7, more);
      await cut;
      expect(accepted(reply).balance).toBe(String(before + 7));
      await expectFigures(other, key, before + 7);
      const log = await readWalletLog(service, key);
      expect(log).toHaveLength(isNew ? 1 : 2);
      expectConsistentLog(log);
      if (!("externalId" in more)) continue;
      expectDuplicate(await move(service, key, "credit", 7, more), String(before + 7));
    }
  });

  test("costs debits, reservations and resolves nothing", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 100));
    const afterCut = async (act: () => Promise<{ status: number; text: string }>) => {
      const cut = proxy.cutNext(point);
      const reply = await act();
      await cut;
      expect(reply.status, reply.text).toBe(200);
    };
    await afterCut(() => move(service, key, "debit", 10));
    let committed = "";
    await afterCut(async () => {
      const reply = await move(service, key, "reserve", 20);
      committed = (reply.body as WalletReply).holdId ?? "";
      return reply;
    });
    const released = await hold(service, key, 30);
    await afterCut(() => resolve(service, key, committed, "commit", { amount: "15" }));
    await afterCut(() => resolve(service, key, released, "release"));
    await expectFigures(other, key, 75);
    const log = await readWalletLog(other, key);
    expectConsistentLog(log);
    const types = ["credit", "debit", "reserve", "reserve", "commit", "release"];
    expect(log.map(({ type }) => type)).toEqual(types);
  });

  test("costs a batch over many wallets, new ones among them, nothing", async () => {
    const keys = Array.from({ length: 10 }, () => newKey(service));
    for (const key of keys.slice(5)) accepted(await move(service, key, "credit", 1));
    const cut = proxy.cutNext(point);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) => move(service, keys[index % 10] ?? "", "credit", 2)),
    );
    await cut;
    for (const reply of replies) accepted(reply);
    for (const [index, key] of keys.entries()) {
      await expectFigures(other, key, index < 5 ? 12 : 13);
      expectConsistentLog(await readWalletLog(other, key));
    }
  });

  test("leaves each write to be posted once, and told once to its readers", async () => {
    const key = newKey(service);
    const [here, there] = [await openStream(service, key), await openStream(other, key)];
    const cut = proxy.cutNext(point);
    accepted(await move(service, key, "credit", 2));
    await cut;
    accepted(await move(other, key, "credit", 3));
    await Promise.all([here.reach(2), there.reach(2)]);
    await Promise.all([here.end(), there.end()]);
    for (const reader of [here, there]) {
      expect(reader.messages.map(({ balance }) => balance)).toEqual(["2", "5"]);
    }
    const query = `SELECT batches.amount::text AS amount FROM wallet_batches AS batches
                     JOIN wallets ON wallets.ledger_id = batches.ledger_id
                      AND wallets.wallet_id = ANY (batches.wallet_ids)
                    WHERE batches.ledger_id = $1 AND caller_key = $2 ORDER BY accepted_to, amount`;
    const sides = await readRows(service, query, partsOf(key));
    expect(sides).toEqual([{ amount: "2" }, { amount: "3" }]);
  });
});

describe("a write whose COMMIT never came, while another server's write to the wallet did", () => {
  /** Holds a wallet's row until two writers wait for it, one after the other, then lets them go. */
  async function inOrder(key: string, first: () => Promise<void>, second: () => Promise<void>) {
    const blocker = new Client({ connectionString: books.databaseUrl });
    await blocker.connect();
    await blocker.query("BEGIN");
    const lock = "SELECT FROM wallets WHERE ledger_id = $1 AND caller_key = $2 FOR UPDATE";
    await blocker.query(lock, partsOf(key));
    const acts = [first()];
    await until("one waits", async () => (await countRows(other, lockWaiters)) >= 1);
    acts.push(second());
    await until("two wait", async () => (await countRows(other, lockWaiters)) >= 2);
    await blocker.query("COMMIT");
    await blocker.end();
    await Promise.all(acts);
  }

  test.each(["reserve", "credit"] as const)("(%s) is made after it", async (verb) => {
    const key = newKey(service);
    accepted(await move(other, key, "credit", 100));
    const replies: WalletReply[] = [];
    const cut = proxy.cutNext("beforeCommit");
    await inOrder(
      key,
      async () => void replies.push(accepted(await move(service, key, verb, 10))),
      async () => void replies.push(accepted(await move(other, key, verb, 20))),
    );
    await cut;
    const log = await readWalletLog(other, key);
    expectConsistentLog(log);
    expect(log.slice(1).map(({ amount }) => amount)).toEqual(["20", "10"]);
    const holds = log.slice(1).map(({ holdId }) => holdId);
    expect(new Set(replies.map(({ holdId }) => holdId ?? null))).toEqual(new Set(holds));
  });

  test("is not taken for made because the other released the same hold at the same seq", async () => {
    const [reserved, key] = [newKey(service), newKey(service)];
    for (const each of [reserved, key]) accepted(await move(other, each, "credit", 100));
    const holdId = await hold(other, key, 10);
    const replies: string[] = [];
    const cut = proxy.cutNext("beforeCommit");
    await inOrder(
      key,
      async () => {
        // In one packet, so that both are of one batch, whose last row is the release.
        const path = (wallet: string, rest: string) => ({ target: walletPath(wallet, rest) });
        const { credentials } = books;
        const requests = [
          { ...path(reserved, "reserve"), body: JSON.stringify(movement(30)) },
          { ...path(key, `holds/${holdId}/release`), body: "{}" },
        ].map((parts) => signedRequestBytes({ credentials, ...parts }));
        const socket = connect(service.port, "127.0.0.1");
        socket.write(Buffer.concat(requests));
        let text = "";
        for await (const chunk of socket) {
          text += String(chunk);
          replies.splice(0, Infinity, ...(text.match(/\{[^{}]*\}/g) ?? []));
          if (replies.length === 2) break;
        }
      },
      async () => void accepted(await resolve(other, key, holdId, "release", {})),
    );
    await cut;
    const [made, released] = replies.map((reply) => JSON.parse(reply) as WalletReply);
    expect(made).toMatchObject({ status: "accepted", balance: "100", available: "70" });
    expect(released).toMatchObject({ status: "duplicate", balance: "100", available: "100" });
    const log = await readWalletLog(other, reserved);
    expect(log.map(({ type, holdId: of }) => [type, of])).toEqual([
      ["credit", null],
      ["reserve", made?.holdId],
    ]);
  });
});

describe("backends that an operator terminates", () => {
  const terminate = (like: string) =>
    countRows(
      other,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE $1
          AND pid <> pg_backend_pid()`,
      [like],
    );

  test("while writes are under way lose none and double none", async () => {
    const keys = Array.from({ length: 4 }, () => newKey(service));
    const reader = await openStream(other, keys[0] ?? "", { since: 0 });
    const writing = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        for (let index = 0; index < 15; index += 1) {
          const key = keys[(client + index) % 4] ?? "";
          const on = index % 2 ? service : other;
          const more = client % 2 ? { externalId: `${client}/${index}` } : {};
          accepted(await move(on, key, "credit", 10, more));
        }
      }),
    );
    let terminated = 0;
    for (let round = 0; round < 12; round += 1) {
      terminated += await terminate("ledgerctl write");
      await sleep(10);
    }
    await writing;
    expect(terminated).toBeGreaterThan(0);
    let rows = 0;
    for (const key of keys) {
      const log = await readWalletLog(service, key);
      expectConsistentLog(log);
      rows += log.length;
    }
    expect(rows).toBe(120);
    await reader.reach((await readWalletLog(service, keys[0] ?? "")).length);
    await reader.end();
    expect(reader.messages.map(({ seq }) => seq)).toEqual(reader.messages.map((_, at) => at + 1));
  });

  test("while streams are open do not end them, and nothing is missed", async () => {
    const key = newKey(service);
    const readers = [await openStream(service, key), await openStream(other, key, { since: 0 })];
    for (let index = 0; index < 10; index += 1) {
      await terminate("ledgerctl%");
      accepted(await move(index % 2 ? service : other, key, "credit", 1));
    }
    for (const reader of readers) {
      await reader.reach(10);
      await reader.end();
      const balances = reader.messages.map(({ balance }) => Number(balance));
      expect(balances).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
  });
});

describe("a database that is away", () => {
  test("makes wallets 503 with Retry-After, streams wait, and all is well when it is back", async () => {
    const key = newKey(service);
    accepted(await move(service, key, "credit", 5));
    const reader = await openStream(service, key);
    await proxy.goAway();
    const bulk = `/v1/ledgers/${books.ledgerId}/wallet-writes`;
    const write = { callerKey: "x", type: "credit", amount: "1", assetCode: "USD" };
    const [credit, balance, many] = await Promise.all([
      move(service, key, "credit", 1, { externalId: "away" }),
      service.get(`/v1/wallets/${key}/balance`),
      service.post(bulk, { writes: [write, { ...write, amount: "0" }] }),
    ]);
    for (const reply of [credit, balance]) {
      refusal(reply, 503);
      expect(reply.headers["retry-after"]).toMatch(/^[1-9][0-9]*$/);
      expect(reply.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
    }
    const error = expect.any(String) as string;
    // A key is asked for anew every 4 s: where that is due, no write is looked at.
    if (many.status === 503) problem(many);
    else expect(many.body).toEqual({ results: [503, 400].map((status) => ({ status, error })) });
    accepted(await move(other, key, "credit", 2));
    await proxy.comeBack();
    await reader.reach(1);
    accepted(await move(service, key, "credit", 1, { externalId: "away" }));
    await reader.reach(2);
    await reader.end();
    expect(reader.messages.map(({ balance: told }) => told)).toEqual(["7", "8"]);
  });
});

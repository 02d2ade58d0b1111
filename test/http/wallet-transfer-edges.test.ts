// Transfers at the edges: what comes at the same moment as something else, more than once, broken, or at a limit.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { pointers, problem } from "../support/entries.ts";
import { readRows } from "../support/rows.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import { signedRequestBytes, type Credentials, type Reply } from "../support/signed-request.ts";
import { dayBefore, forge } from "../support/tampering.ts";
import {
  transfer,
  transferFunds,
  transferResults,
  type TransferResult,
} from "../support/transfers.ts";
import { until } from "../support/until.ts";
import {
  accepted,
  hold,
  move,
  readFigures,
  readWalletLog,
  refusal,
  resolve,
  walletPath,
} from "../support/wallets.ts";

let books: TestBooks;
let service: TestService;
/** On the same database. */
let other: TestService;
let engine: TestEngine;
let admin: Credentials;

beforeAll(async () => {
  books = await createBooks();
  [service, other] = [
    await startService(books, neverPosting),
    await startService(books, neverPosting),
  ];
  engine = openEngine(books.databaseUrl);
  admin = await books.createKey({ scopes });
});

afterAll(async () => {
  await engine.end();
  await Promise.all([service.stop(), other.stop()]);
  await books.drop();
});

/** A ledger with wallets that were credited, and requests on it. */
async function openLedger(funds: Readonly<Record<string, number>> = {}) {
  const ledgerId = await books.createLedger();
  const key = (name: string) => `${ledgerId}:${name}`;
  for (const [name, amount] of Object.entries(funds)) {
    accepted(await move(service, key(name), "credit", amount));
  }
  const send = (transfers: readonly unknown[], more = {}, server = service): Promise<Reply> =>
    transferFunds(server, transfers, more, ledgerId);
  return {
    ledgerId,
    key,
    send,
    atomic: (...transfers: readonly unknown[]) => send(transfers, { atomic: true }),
    each: async (...transfers: readonly unknown[]) =>
      statuses(transferResults(await send(transfers))),
    balances: async (...names: string[]) =>
      Promise.all(
        names.map(async (name) => Number((await readFigures(service, key(name))).balance)),
      ),
    types: async (name: string) =>
      (await readWalletLog(service, key(name))).map(({ type }) => type),
  };
}

const statuses = (results: readonly TransferResult[]) => results.map(({ status }) => status);

describe("the same transfer at once", () => {
  test("is made once, on whichever server, by itself or atomically, and each is told its transferId", async () => {
    const { send, balances } = await openLedger({ a: 1_000 });
    for (const externalId of ["once", "twice"]) {
      const one = transfer("a", "b", 10, { externalId });
      const sent = Array.from({ length: 16 }, (_, index) =>
        send([one], { atomic: index % 3 === 0 }, index % 2 === 0 ? service : other),
      );
      const results = (await Promise.all(sent)).flatMap(transferResults);
      expect(statuses(results).filter((status) => status === "accepted")).toHaveLength(1);
      expect(statuses(results).filter((status) => status === "duplicate")).toHaveLength(15);
      expect(new Set(results.map(({ transferId }) => transferId)).size).toBe(1);
    }
    expect(await balances("a", "b")).toEqual([980, 20]);
  });

  test("of one externalId, a thousand times in a request, is one transfer", async () => {
    const { send, balances } = await openLedger({ a: 1_000 });
    const one = transfer("a", "b", 1, { externalId: "x" });
    const results = transferResults(await send(Array.from({ length: 1_000 }, () => one)));
    expect(statuses(results).filter((status) => status === "accepted")).toHaveLength(1);
    expect(await balances("a", "b")).toEqual([999, 1]);
  });

  test("and another kind of write with its externalId: one of them is made, the others are duplicates", async () => {
    const { key, send, types } = await openLedger({ a: 100 });
    const externalId = "shared";
    const replies = await Promise.all([
      send([transfer("a", "b", 10, { externalId })]),
      move(other, key("a"), "debit", 10, { externalId }),
      move(service, key("a"), "reserve", 10, { externalId }),
      send([transfer("a", "c", 10, { externalId })], { atomic: true }, other),
    ]);
    const told = replies.map(({ body }) => {
      const { results: [result] = [], status } = body as {
        results?: [TransferResult];
        status?: string;
      };
      return result?.status ?? status;
    });
    expect(told.sort()).toEqual(["accepted", "duplicate", "duplicate", "duplicate"]);
    expect(await types("a")).toHaveLength(2);
  });
});

describe("a caller who goes away", () => {
  /** Sends so much of a request for a transfer, and cuts the connection. */
  async function sendAndGo(ledgerId: string, one: object, bytesLeftOut: number): Promise<void> {
    const target = `/v1/ledgers/${ledgerId}/wallet-transfers`;
    const body = JSON.stringify({ transfers: [one], atomic: true });
    const bytes = signedRequestBytes({ credentials: books.credentials, target, body });
    const socket = connect(service.port, "127.0.0.1");
    await once(socket, "connect");
    await new Promise<void>((resolve) => {
      socket.write(bytes.subarray(0, bytes.length - bytesLeftOut), () => {
        resolve();
      });
    });
    socket.destroy();
  }

  test("in the middle of the body has transferred nothing", async () => {
    const { ledgerId, balances, each } = await openLedger({ a: 100 });
    const one = transfer("a", "b", 10, { externalId: "half" });
    await sendAndGo(ledgerId, one, 3);
    expect(await each(one)).toEqual(["accepted"]);
    expect(await balances("a", "b")).toEqual([90, 10]);
  });

  test("before the answer has transferred once or not at all; asking again settles it", async () => {
    const { ledgerId, balances, each } = await openLedger({ a: 100 });
    for (let number = 0; number < 8; number += 1) {
      await sendAndGo(ledgerId, transfer("a", "b", 10, { externalId: `gone ${number}` }), 0);
    }
    for (let number = 0; number < 8; number += 1) {
      const [status] = await each(transfer("a", "b", 10, { externalId: `gone ${number}` }));
      expect(["accepted", "duplicate"]).toContain(status);
    }
    expect(await balances("a", "b")).toEqual([20, 80]);
  });
});

describe("texts of a transfer", () => {
  const lone = "\\ud800";
  const nul = "\\u0000";
  test.each(["from", "to", "externalId", "metadata", "fromHold"])(
    "are refused where %s has NUL or half a surrogate pair, and the others of the request are made",
    async (member) => {
      const { send, ledgerId, balances } = await openLedger({ a: 100 });
      for (const broken of [lone, nul]) {
        const faulty = JSON.stringify(transfer("a", "b", 1, { [member]: "TEXT" })).replace(
          "TEXT",
          `x${broken}`,
        );
        const sound = JSON.stringify(transfer("a", "b", 1));
        const body = `{"transfers":[${faulty},${sound}]}`;
        const reply = await service.post(`/v1/ledgers/${ledgerId}/wallet-transfers`, body);
        expect(statuses(transferResults(reply))).toEqual([400, "accepted"]);
        const atomic = `{"transfers":[${sound},${faulty}],"atomic":true}`;
        const whole = await service.post(`/v1/ledgers/${ledgerId}/wallet-transfers`, atomic);
        expect(new Set(pointers(whole))).toEqual(new Set([`#/transfers/1/${member}`]));
      }
      expect(await balances("a", "b")).toEqual([98, 2]);
      expect((await send([transfer("a", "b", 1, { [member]: "" })])).status).toBe(200);
    },
  );

  test("name the same wallet only where they are the same characters, and assets by their code", async () => {
    const { each, balances } = await openLedger({ "\u00e9": 10 });
    // The same letter in two characters.
    expect(await each(transfer("\u00e9", "e\u0301", 4, { assetCode: "usd" }))).toEqual([
      "accepted",
    ]);
    expect(await balances("\u00e9", "e\u0301")).toEqual([6, 4]);
  });
});

describe("a hold that expires", () => {
  test("gives nothing to a transfer any more, which is logged although it is refused", async () => {
    const { key, send, each, types } = await openLedger({ a: 100, c: 100 });
    const holdId = await hold(service, key("a"), 40, { expiresInSeconds: 1 });
    const query = `SELECT 1 FROM wallet_holds WHERE hold_id = $1 AND expires_at <= clock_timestamp()`;
    await until("its expiry", async () => (await readRows(service, query, [holdId])).length > 0);
    const bulk = [transfer("c", "b", 5), transfer("a", "b", 40, { fromHold: holdId })];
    const refused = problem(await send(bulk, { atomic: true }));
    expect(refused).toMatchObject({ status: 409, errors: [{ pointer: "#/transfers/1" }] });
    // What was called expired stays so, whatever clocks do; nothing else of the bulk is there.
    expect([await types("a"), await types("c"), await types("b")]).toEqual([
      ["credit", "reserve", "expire"],
      ["credit"],
      [],
    ]);
    expect(await each(transfer("a", "b", 40, { fromHold: holdId.toUpperCase() }))).toEqual([409]);
    expect(await each(transfer("a", "b", 100))).toEqual(["accepted"]);
  });

  test("is resolved once, however many want it at the same moment", async () => {
    const { key, send, balances } = await openLedger({ a: 100 });
    for (let round = 0; round < 5; round += 1) {
      const fromHold = await hold(service, key("a"), 10);
      const wanting = [service, other].flatMap((server) => [
        send([transfer("a", "b", 10, { fromHold })], { atomic: true }, server),
        resolve(server, key("a"), fromHold, "commit"),
        resolve(server, key("a"), fromHold, "release"),
      ]);
      const replies = await Promise.all(wanting);
      const done = replies.filter(({ status }) => status === 200);
      const made = done.filter(({ text }) => text.includes('"accepted"'));
      expect(made).toHaveLength(1);
      // The same verb again is a duplicate, which a transfer without an externalId never is.
      for (const { text } of done) expect(text).toMatch(/"accepted"|"duplicate"/);
      for (const { status } of replies) expect([200, 409]).toContain(status);
    }
    const [a = 0, b = 0] = await balances("a", "b");
    const rows = await readWalletLog(service, key("a"));
    const committed = rows.filter(({ type }) => type === "commit").length;
    expect(a + b + 10 * committed).toBe(100);
    expect((await readFigures(service, key("a"))).available).toBe(String(a));
  });
});

describe("a wallet that is frozen while others transfer", () => {
  test("has no transfer out of it after its freeze, and every one that was answered before", async () => {
    const { key, send } = await openLedger({ a: 10_000, b: 10_000 });
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const made: (string | null | undefined)[] = [];
      for (let step = 0; step < 25; step += 1) {
        const way = writer % 2 === 0 ? transfer("a", "b", 1) : transfer("b", "a", 1);
        const server = step % 2 === 0 ? service : other;
        const [result] = transferResults(await send([way], {}, server));
        if (result?.status === "accepted") made.push(result.transferId);
        else expect([result?.status, writer % 2]).toEqual([403, 0]);
      }
      return made;
    });
    const frozen = await service.send({
      ...{ method: "POST", target: walletPath(key("a"), "freeze"), credentials: admin },
    });
    expect(frozen.status).toBe(200);
    const made = new Set((await Promise.all(writers)).flat());
    const rows = await readWalletLog(service, key("a"));
    const after = rows.slice(rows.findIndex(({ type }) => type === "freeze"));
    expect(new Set(after.map(({ type }) => type))).toEqual(new Set(["freeze", "transfer-in"]));
    expect(new Set(rows.flatMap(({ transferId }) => transferId ?? []))).toEqual(made);
    expect(await engine.failingChecks(key("").slice(0, -1))).toEqual([]);
  });
});

describe("a ledger that is suspended while others transfer", () => {
  test("has none after that, all or none of each bulk, and tells duplicates", async () => {
    const { ledgerId, send, balances } = await openLedger({ a: 1_000 });
    const bulk = (number: number) =>
      ["b", "c", "d"].map((to) => transfer("a", to, 1, { externalId: `${to} ${number}` }));
    const sent = Array.from({ length: 30 }, async (_, number) => {
      const server = number % 2 === 0 ? service : other;
      return { number, reply: await send(bulk(number), { atomic: true }, server) };
    });
    await engine.changeStatus(ledgerId, "suspended");
    const replies = await Promise.all(sent);
    const made = replies.filter(({ reply }) => reply.status === 200);
    for (const { reply } of replies) expect([200, 403]).toContain(reply.status);
    expect(await balances("a", "b", "c", "d")).toEqual([
      1_000 - 3 * made.length,
      ...Array<number>(3).fill(made.length),
    ]);
    for (const { number, reply } of made) {
      const again = transferResults(await send(bulk(number), { atomic: true }));
      const first = transferResults(reply);
      expect(again.map(({ transferId }) => transferId)).toEqual(
        first.map(({ transferId }) => transferId),
      );
    }
    const late = await send(bulk(99), { atomic: true });
    expect(problem(late)).toMatchObject({ status: 403, code: "LEDGER_SUSPENDED" });
  });
});

describe("atomic transfers that can't all be made", () => {
  test("leave a wallet that they would have made to any asset", async () => {
    const { key, atomic, types } = await openLedger({ a: 100 });
    const refused = await atomic(
      transfer("a", "fresh", 10),
      transfer("fresh", "a", 5),
      transfer("a", "fresh", 1, { assetCode: "EUR" }),
    );
    expect(problem(refused)).toMatchObject({ errors: [{ pointer: "#/transfers/2/assetCode" }] });
    expect(await types("fresh")).toEqual([]);
    accepted(await move(service, key("fresh"), "credit", 5, { assetCode: "EUR" }));
    expect(await types("a")).toEqual(["credit"]);
  });

  test("count nothing towards the limit of the day, and what is made counts once", async () => {
    const { ledgerId, atomic, each, key } = await openLedger({ a: 1_000, b: 1_000 });
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 100n });
    const over = problem(await atomic(transfer("a", "b", 60), transfer("a", "b", 60)));
    expect(over).toMatchObject({ status: 422, errors: [{ pointer: "#/transfers/1" }] });
    // What comes in does not make room for what goes out.
    const around = [transfer("a", "b", 50), transfer("b", "a", 50), transfer("a", "b", 50)];
    expect((await atomic(...around)).status).toBe(200);
    expect(
      await each(transfer("a", "b", 1), transfer("b", "a", 50), transfer("b", "a", 1)),
    ).toEqual([422, "accepted", 422]);
    refusal(await move(service, key("a"), "debit", 1), 422);
  });

  test("may not pass the greatest balance for a moment either: two full wallets can't swap", async () => {
    const { ledgerId, atomic, each, balances } = await openLedger({ a: 100, b: 100, c: 50 });
    await engine.setRule(ledgerId, "USD", { maxBalance: 100n });
    const swap = [transfer("a", "b", 10), transfer("b", "a", 10)];
    expect(problem(await atomic(...swap))).toMatchObject({ status: 422, title: "Limit exceeded" });
    expect(await each(...swap)).toEqual([422, 422]);
    // Through a third one that has room.
    const around = [transfer("a", "c", 10), transfer("b", "a", 10), transfer("c", "b", 10)];
    expect((await atomic(...around)).status).toBe(200);
    expect(await balances("a", "b", "c")).toEqual([100, 100, 50]);
  });
});

describe("the limit of a day", () => {
  test("begins anew with the UTC day for transfers, in the middle of nothing", async () => {
    const { ledgerId, each, atomic } = await openLedger({ a: 1_000 });
    await engine.setRule(ledgerId, "USD", { dailyDebitMax: 100n });
    expect(await each(transfer("a", "b", 100), transfer("a", "b", 1))).toEqual(["accepted", 422]);
    // As if all of it had been yesterday.
    await forge(
      books,
      `UPDATE wallet_writes SET at = ${dayBefore("at")} WHERE ledger_id = '${ledgerId}'`,
      `UPDATE wallets SET last_at = ${dayBefore("last_at")}, debited_on = debited_on - 1
        WHERE ledger_id = '${ledgerId}'`,
    );
    expect(await each(transfer("b", "a", 100))).toEqual(["accepted"]);
    expect((await atomic(transfer("a", "b", 40), transfer("a", "b", 60))).status).toBe(200);
    expect(await each(transfer("a", "b", 1))).toEqual([422]);
  });
});

test("amounts of all the digits there are go around a ring of wallets without losing one", async () => {
  const most = 10n ** 38n - 1n;
  const { key, atomic } = await openLedger();
  const names = ["a", "b", "c", "d"];
  accepted(await move(service, key("a"), "credit", most));
  const ring = Array.from({ length: 1_000 }, (_, index) =>
    transfer(names[index % 4] ?? "", names[(index + 1) % 4] ?? "", most),
  );
  const results = transferResults(await atomic(...ring));
  expect(results.at(-1)).toMatchObject({ from: { balance: "0" }, to: { balance: String(most) } });
  expect((await readFigures(service, key("a"))).balance).toBe(String(most));
});

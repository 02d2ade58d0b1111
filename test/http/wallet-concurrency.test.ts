// Writers that meet: many at once, on one service and on two that share a database.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../support/engine.ts";
import { readRows } from "../support/rows.ts";
import { createBooks, startService, type TestBooks, type TestService } from "../support/service.ts";
import type { Reply } from "../support/signed-request.ts";
import { expectConsistentLog } from "../support/wallet-oracle.ts";
import {
  accepted,
  expectFigures,
  hold,
  move,
  newKey,
  readWalletLog,
  refusal,
  type WalletReply,
} from "../support/wallets.ts";

let books: TestBooks;
let engine: TestEngine;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  books = await createBooks();
  engine = openEngine(books.databaseUrl);
  [one, two] = [await startService(books), await startService(books)];
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop(), engine.end()]);
  await books.drop();
});

/** Does something many times at once, on both services by turns or on the first alone. */
function atOnce<Result>(
  count: number,
  services: readonly TestService[],
  act: (service: TestService, index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      act(services[index % services.length] ?? one, index),
    ),
  );
}

function statuses(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const word = status === 200 ? (body as WalletReply).status : String(status);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

describe.each([["on one service"], ["over two services"]])("%s", (where) => {
  const services = () => (where === "on one service" ? [one] : [one, two]);

  test("64 duplicates at once are accepted once, for a wallet that is new too", async () => {
    const key = newKey(one);
    for (const externalId of ["first", "second"]) {
      const replies = await atOnce(64, services(), (service) =>
        move(service, key, "credit", 10, { externalId }),
      );
      expect(statuses(replies)).toEqual({ accepted: 1, duplicate: 63 });
    }
    expect(await readWalletLog(one, key)).toHaveLength(2);
    await expectFigures(one, key, 20);
  });

  test("64 duplicates at once of a reservation have one hold", async () => {
    const key = newKey(one);
    accepted(await move(one, key, "credit", 100));
    const replies = await atOnce(64, services(), (service) =>
      move(service, key, "reserve", 10, { externalId: "r" }),
    );
    expect(statuses(replies)).toEqual({ accepted: 1, duplicate: 63 });
    expect(new Set(replies.map(({ body }) => (body as WalletReply).holdId)).size).toBe(1);
    await expectFigures(one, key, 100, 90);
  });

  test("one externalId in different writes at once is accepted once", async () => {
    const key = newKey(one);
    accepted(await move(one, key, "credit", 1000));
    const verbs = ["credit", "debit", "reserve"] as const;
    const replies = await atOnce(60, services(), (service, index) =>
      move(service, key, verbs[index % 3] ?? "credit", 1 + index, { externalId: "any" }),
    );
    expect(statuses(replies)).toEqual({ accepted: 1, duplicate: 59 });
    expect(await readWalletLog(one, key)).toHaveLength(2);
  });

  test("debits and reservations at once never overdraw", async () => {
    const key = newKey(one);
    accepted(await move(one, key, "credit", 100));
    const replies = await atOnce(100, services(), (service, index) =>
      move(service, key, index % 2 ? "debit" : "reserve", 7),
    );
    expect(statuses(replies)).toEqual({ accepted: 14, 422: 86 });
    const { balance, held } = expectConsistentLog(await readWalletLog(two, key));
    expect(balance - held).toBe(2n);
    await expectFigures(two, key, balance, 2n);
  });

  test("first writes in different assets at once leave one of them", async () => {
    const key = newKey(one);
    const replies = await atOnce(40, services(), (service, index) =>
      move(service, key, "credit", 1, { assetCode: index % 2 ? "apples" : "pears" }),
    );
    expect(statuses(replies)).toEqual({ accepted: 20, 400: 20 });
    await expectFigures(one, key, 20);
  });

  test("an asset that is new is used by many wallets at once", async () => {
    const assetCodes = [0, 1, 2, 3].map((number) => `new-${where}-${number}`.replaceAll(" ", "."));
    const replies = await atOnce(64, services(), (service, index) =>
      move(service, newKey(one), "credit", 5, {
        // In changing order, so that writers meet in every order.
        assetCode: assetCodes[(index * 3 + Math.floor(index / 8)) % 4],
      }),
    );
    expect(statuses(replies)).toEqual({ accepted: 64 });
    for (const assetCode of assetCodes) {
      const query = "SELECT version FROM asset_rules WHERE ledger_id = $1 AND asset_code = $2";
      const rules = await readRows(one, query, [books.ledgerId, assetCode]);
      expect(rules).toEqual([{ version: 1 }]);
    }
  });

  test("many wallets in bulks that overlap get every write once", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `${where} ${index}`);
    const bulks = await atOnce(8, services(), (service, index) => {
      const order = index % 2 ? names : [...names].reverse();
      const writes = order.map((callerKey, at) => ({
        callerKey,
        type: "credit",
        amount: "3",
        assetCode: "USD",
        externalId: `${index}/${at}`,
      }));
      return service.post(`/v1/ledgers/${books.ledgerId}/wallet-writes`, { writes });
    });
    for (const { status } of bulks) expect(status).toBe(200);
    for (const name of names) await expectFigures(two, `${books.ledgerId}:${name}`, 24);
  });
});

describe("an overdraft limit", () => {
  test("lets debits and reservations go that far below zero, and no further", async () => {
    const ledgerId = await books.createLedger();
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 50n });
    const key = newKey(one, ledgerId);
    refusal(await move(one, key, "debit", 51), 422);
    expect(accepted(await move(one, key, "debit", 20))).toMatchObject({
      balance: "-20",
      available: "-20",
    });
    await hold(two, key, 30);
    await expectFigures(two, key, -20, -50);
    refusal(await move(two, key, "debit", 1), 422);
    refusal(await move(one, key, "reserve", 1), 422);
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 60n });
    accepted(await move(one, key, "debit", 10));
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 0n });
    refusal(await move(one, key, "debit", 1), 422);
    accepted(await move(one, key, "credit", 5));
    await expectFigures(one, key, -25, -55);
  });

  test("holds for concurrent debits over two services", async () => {
    const ledgerId = await books.createLedger();
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 50n });
    const key = newKey(one, ledgerId);
    const replies = await atOnce(40, [one, two], (service) => move(service, key, "debit", 7));
    expect(statuses(replies)).toEqual({ accepted: 7, 422: 33 });
    await expectFigures(one, key, -49);
  });

  test("is one of its asset and its ledger", async () => {
    const ledgerId = await books.createLedger();
    await engine.setRule(ledgerId, "USD", { overdraftLimit: 50n });
    refusal(await move(one, newKey(one, ledgerId), "debit", 1, { assetCode: "EUR" }), 422);
    refusal(await move(one, newKey(one), "debit", 1), 422);
  });
});

test("a ledger is suspended in the midst of writes from both services, and none comes after", async () => {
  const ledgerId = await books.createLedger();
  const key = newKey(one, ledgerId);
  accepted(await move(one, key, "credit", 1));
  let isSuspended = false;
  const acceptedAfter: Reply[] = [];
  const writing = atOnce(16, [one, two], async (service) => {
    for (;;) {
      const wasSuspended = isSuspended;
      const reply = await move(service, key, "credit", 1);
      if (wasSuspended && reply.status === 200) acceptedAfter.push(reply);
      if (reply.status === 403) return;
      expect(reply.status, reply.text).toBe(200);
    }
  });
  expect(await engine.changeStatus(ledgerId, "suspended")).toEqual({ outcome: "done" });
  isSuspended = true;
  await writing;
  expect(acceptedAfter).toEqual([]);
  const log = await readWalletLog(two, key);
  expectConsistentLog(log);
  // What was accepted was posted with the change of state.
  expect(log.filter(({ journalId }) => journalId === null)).toEqual([]);
});

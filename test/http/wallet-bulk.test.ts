// Bulk writes: many credits and debits in one request, each by itself.
import { beforeAll, describe, expect, test } from "vitest";
import { pointers, problem } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import type { Reply } from "../support/signed-request.ts";
import {
  accepted,
  expectFigures,
  hold,
  move,
  movement,
  newKey,
  readWalletLog,
} from "../support/wallets.ts";

const service = serveBooks();
let path: string;

beforeAll(() => {
  path = `/v1/ledgers/${service.books.ledgerId}/wallet-writes`;
});

function item(callerKey: string, amount: bigint | number = 100, more = {}) {
  return { ...movement(amount), callerKey, type: "credit", ...more };
}

function results(reply: Reply): Record<string, unknown>[] {
  expect(reply.status, reply.text).toBe(200);
  expect(Object.keys(reply.body as object)).toEqual(["results"]);
  return (reply.body as { results: Record<string, unknown>[] }).results;
}

describe("a bulk", () => {
  test("of 1000 writes to one wallet is answered in order, with the figures after each", async () => {
    const writes = Array.from({ length: 1000 }, (_, index) => item("thousand", index + 1));
    const replies = results(await service.post(path, { writes }));
    let total = 0;
    replies.forEach((reply, index) => {
      total += index + 1;
      const figures = { balance: String(total), available: String(total) };
      expect(reply).toEqual({ status: "accepted", ...figures });
    });
    expect(replies).toHaveLength(1000);
    const log = await readWalletLog(service, `${service.books.ledgerId}:thousand`);
    expect(log.map(({ amount }) => amount)).toEqual(writes.map(({ amount }) => amount));
  });

  test("of 1000 wallets makes them all", async () => {
    const writes = Array.from({ length: 1000 }, (_, index) => item(`many-${index}`, index + 1));
    const replies = results(await service.post(path, { writes }));
    expect(replies.map(({ balance }) => balance)).toEqual(writes.map(({ amount }) => amount));
  });

  test.each([
    ["1001 writes", { writes: Array.from({ length: 1001 }, () => item("never")) }, ["#/writes"]],
    ["no writes", { writes: [] }, ["#/writes"]],
    ["no list", { writes: item("never") }, ["#/writes"]],
    ["null for a list", { writes: null }, ["#/writes"]],
    ["nothing", {}, ["#/writes"]],
    ["a list alone", [item("never")], ["#"]],
    ["another member", { writes: [item("never")], atomic: true }, ["#/atomic"]],
  ])("of %s is refused as a whole", async (_, body, expected) => {
    const reply = await service.post(path, body);
    expect(pointers(reply)).toEqual(expected);
    await expectFigures(service, `${service.books.ledgerId}:never`, 0);
  });

  test("answers each item by itself: a faulty one does not spoil the others", async () => {
    const key = (name: string) => `${service.books.ledgerId}:mixed ${name}`;
    accepted(await move(service, key("a"), "credit", 50, { externalId: "known" }));
    await hold(service, key("a"), 20);
    const writes = [
      item("mixed a", 5),
      item("mixed a", 36, { type: "debit" }),
      item("mixed a", 1, { externalId: "known", assetCode: "EUR" }),
      item("mixed a", 1, { assetCode: "EUR" }),
      item("mixed b", 7, { externalId: "new" }),
      item("mixed b", 7, { externalId: "new" }),
      item("mixed c", 1, { type: "debit" }),
      { ...item("mixed b"), amount: "0" },
      { ...item("mixed b"), type: "reserve" },
      { ...item("mixed b"), extra: 1 },
      item(""),
      item("a\u0000b"),
      item("a\u0085b"),
      item("x".repeat(257)),
      { type: "credit" },
      null,
      "credit",
      item("mixed a", 35, { type: "debit" }),
    ];
    const replies = results(await service.post(path, { writes }));
    const told = replies.map((reply) => reply["status"]);
    const faulty = Array.from({ length: 10 }, () => 400);
    expect(told).toEqual([
      "accepted",
      422,
      "duplicate",
      400,
      "accepted",
      "duplicate",
      422,
      ...faulty,
      "accepted",
    ]);
    for (const reply of replies) {
      const members = typeof reply["status"] === "number" ? ["error"] : ["balance", "available"];
      expect(Object.keys(reply)).toEqual(["status", ...members]);
      if ("error" in reply) expect(reply["error"]).toMatch(/\S/);
    }
    await expectFigures(service, key("a"), 20, 0);
    await expectFigures(service, key("b"), 7);
    await expectFigures(service, key("c"), 0);
  });

  test("keeps metadata and takes keys as they are, without percent-decoding", async () => {
    const writes = [item("as%20is/é:x", 3, { metadata: "m", externalId: "e" })];
    results(await service.post(path, { writes }));
    const [row] = await readWalletLog(service, `${service.books.ledgerId}:as%20is/é:x`);
    expect(row).toMatchObject({ amount: "3", metadata: "m", externalId: "e" });
  });

  test("to a suspended ledger has each item refused, and duplicates told", async () => {
    const ledgerId = await service.books.createLedger();
    const target = `/v1/ledgers/${ledgerId}/wallet-writes`;
    results(await service.post(target, { writes: [item("s", 5, { externalId: "in" })] }));
    await service.books.changeStatus(ledgerId, "suspended");
    const writes = [item("s"), item("s", 1, { externalId: "in" }), { ...item("s"), amount: "x" }];
    const replies = results(await service.post(target, { writes }));
    expect(replies.map((reply) => reply["status"])).toEqual([403, "duplicate", 400]);
    await expectFigures(service, newKey(service, ledgerId), 0);
  });

  test("needs `wallets:write`, and its ledger, before its shape is looked at", async () => {
    const credentials = await service.books.createKey({ scopes: ["read", "entries:write"] });
    const refused = await service.send({ target: path, body: "{", credentials });
    expect(problem(refused)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const unknown = path.replace(service.books.ledgerId, "0190b6a0-0000-7000-8000-000000000001");
    const missing = await service.post(unknown, { writes: [] });
    expect(problem(missing)).toMatchObject({ status: 404, title: "Ledger not found" });
  });
});

// Each reply is held against its strict schema: every member there, none besides.
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import {
  accountListReply,
  balanceReply,
  entryPageReply,
  entryReply,
  ledgerListReply,
  ledgerReply,
  receiptReply,
} from "../../src/contract/replies.ts";
import { entriesPath, entry, entryWithLine, postEntry } from "../support/entries.ts";
import type { Reply } from "../support/signed-request.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

function expectReply(reply: Reply, status: number, schema: z.ZodType, value = reply.body): void {
  expect(reply.status).toBe(status);
  expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(Number(reply.headers["content-length"])).toBe(Buffer.byteLength(reply.text));
  expect(schema.parse(value)).toEqual(value);
}

describe("the reply of each route", () => {
  const ledger = () => `/v1/ledgers/${service.books.ledgerId}`;

  test("lists ledgers", async () => {
    expectReply(await service.get("/v1/ledgers"), 200, ledgerListReply);
  });

  test("shows a ledger", async () => {
    expectReply(await service.get(ledger()), 200, ledgerReply);
  });

  test("lists accounts", async () => {
    expectReply(await service.get(`${ledger()}/accounts`), 200, accountListReply);
  });

  test("tells a balance, whose number is a bigint", async () => {
    await postEntry(service, entry(10n ** 37n));
    for (const query of [
      "account=1000",
      "account=4000",
      "account=1100",
      "account=1000&currency=X",
    ]) {
      const reply = await service.get(`${ledger()}/balances?${query}`);
      const digits = /"balance":(-?\d+)/.exec(reply.text)?.[1] ?? "";
      const value = { ...(reply.body as object), balance: BigInt(digits) };
      expectReply(reply, 200, balanceReply, value);
    }
  });

  test("acknowledges an entry and a reversal", async () => {
    const posted = await service.post(entriesPath(service.books.ledgerId), entry());
    expectReply(posted, 201, receiptReply);
    const { journalId } = posted.body as { journalId: string };
    const target = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    expectReply(await service.post(target), 201, receiptReply);
  });

  test("shows entries of all kinds, one by one and in a list", async () => {
    const path = entriesPath(service.books.ledgerId);
    const ids = [
      await postEntry(service, entry()),
      await postEntry(service, {
        ...entryWithLine({
          description: "line",
          transactionAmount: "0",
          transactionCurrency: "EUR",
          spotRate: 1.5,
        }),
        externalId: "x",
        originSystem: "x",
        originAccount: "x",
        eventType: "x",
        description: "x",
        transactionDate: "2026-01-01T00:00Z",
        entryType: "OPENING",
        metadata: { a: [1, null, { b: "c" }] },
      }),
    ].map(({ journalId }) => journalId);
    const { journalId: reversalId } = (await service.post(`${path}/${ids[1] ?? ""}/reversal`))
      .body as { journalId: string };
    for (const id of [...ids, reversalId]) {
      expectReply(await service.get(`${path}/${id}`), 200, entryReply);
    }
    expectReply(await service.get(path), 200, entryPageReply);
    expectReply(await service.get(`${path}?externalId=none`), 200, entryPageReply);
  });
});

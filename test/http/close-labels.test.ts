// What labels of closes may be, and codes of currencies that a preview names.
import { expect, test } from "vitest";
import type { Timestamp } from "../../src/core/time.ts";
import { ClosedPeriods } from "../../src/engine/closed-periods.ts";
import { Closes } from "../../src/engine/closes.ts";
import { entryWithLine, pointers, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

test.each(["\u00e1\u0004\u{1f7ef}", "2026-01\n", "a\u007f", "\u0378", "\u{1fbff}", "x\u009f"])(
  "the label %j can't be printed, and is refused",
  async (periodId) => {
    const path = `/v1/ledgers/${service.books.ledgerId}/period-closes`;
    expect(pointers(await service.post(path, { periodId }))).toEqual(["#/periodId"]);
    const query = `periodId=${encodeURIComponent(periodId)}`;
    expect(pointers(await service.get(`${path}/preview?${query}`))).toEqual(["periodId"]);
  },
);

test("a close under a label that can't be printed, of an older version, can be repeated", async () => {
  const ledgerId = await service.books.createLedger();
  const path = `/v1/ledgers/${ledgerId}/period-closes`;
  const closes = new Closes(service.books.pool, new ClosedPeriods());
  const bounds = { startsAt: null, endsAt: "2026-01-01T00:00:00.000Z" as Timestamp };
  const stored = await closes.closePeriod(ledgerId, {
    periodId: "old\u0004",
    ...bounds,
    reason: null,
  });
  const reply = await service.post(path, { periodId: "old\u0004", reason: "again" });
  expect([reply.status, reply.body]).toEqual([
    201,
    expect.objectContaining({ closeId: stored.closeId, periodId: "old\u0004", reason: null }),
  ]);
  expect(pointers(await service.post(path, { periodId: "new\u0004" }))).toEqual(["#/periodId"]);
  const twoFaults = { periodId: "old\u0004", other: 1 };
  expect(pointers(await service.post(path, twoFaults)).sort()).toEqual(["#/other", "#/periodId"]);
});

test("a label in any script is accepted", async () => {
  const ledgerId = await service.books.createLedger();
  const reply = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, {
    periodId: "Jahresabschluß 年度 \u{1f4d2}",
    endsAt: "2026-01-01T00:00:00Z",
  });
  expect(reply.status, reply.text).toBe(201);
});

test("a preview and a trial balance name codes of three letters that are no currency", async () => {
  const ledgerId = await service.books.createLedger();
  for (const transactionCurrency of ["EUR", "EUD", "eur", "xyz", "GOLD", "US", "ZZ9"]) {
    await postEntry(
      service,
      entryWithLine({ transactionCurrency, transactionAmount: "100" }),
      ledgerId,
    );
  }
  const path = `/v1/ledgers/${ledgerId}/period-closes/preview?periodId=2026-01`;
  for (const target of [path, `/v1/ledgers/${ledgerId}/trial-balance`]) {
    const { unknownCurrencies } = (await service.get(target)).body as Record<string, unknown>;
    expect(unknownCurrencies).toEqual(["EUD", "xyz"]);
  }
});

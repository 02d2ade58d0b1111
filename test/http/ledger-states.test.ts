// Ledgers that are suspended, active again, and closed.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  listEntries,
  postEntry,
  problem,
  readBalance,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const states = [
  ["suspended", "LEDGER_SUSPENDED"],
  ["closed", "LEDGER_CLOSED"],
] as const;

describe.each(states)("a %s ledger", (status, code) => {
  test("refuses entries and reversals", async () => {
    const ledgerId = await service.books.createLedger();
    const { journalId } = await postEntry(service, entry(), ledgerId);
    await service.books.changeStatus(ledgerId, status);
    const path = entriesPath(ledgerId);
    for (const reply of [
      await service.post(path, entry()),
      await service.post(path, entry(1n, { externalId: "new" })),
      await service.post(`${path}/${journalId}/reversal`),
      await service.post(`${path}/${journalId}/reversal`, { externalId: "new" }),
    ]) {
      expect(problem(reply)).toMatchObject({ status: 403, code });
    }
    expect((await listEntries(service, "", ledgerId)).total).toBe(1);
  });

  test("can be read", async () => {
    const ledgerId = await service.books.createLedger();
    const { journalId } = await postEntry(service, entry(), ledgerId);
    await service.books.changeStatus(ledgerId, status);
    expect((await readBalance(service, "1000", undefined, ledgerId)).balance).toBe(100n);
    for (const target of [
      `/v1/ledgers/${ledgerId}`,
      `/v1/ledgers/${ledgerId}/accounts`,
      `${entriesPath(ledgerId)}/${journalId}`,
    ]) {
      expect((await service.get(target)).status).toBe(200);
    }
  });

  test("leaves other ledgers alone", async () => {
    await service.books.changeStatus(await service.books.createLedger(), status);
    await postEntry(service, entry());
  });
});

test("a suspended ledger that is active again takes entries where it left off", async () => {
  const ledgerId = await service.books.createLedger();
  await postEntry(service, entry(), ledgerId);
  await service.books.changeStatus(ledgerId, "suspended");
  expect((await service.post(entriesPath(ledgerId), entry())).status).toBe(403);
  await service.books.changeStatus(ledgerId, "active");
  await postEntry(service, entry(), ledgerId);
  const { entries } = await listEntries(service, "", ledgerId);
  expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test("a closed ledger stays closed", async () => {
  const ledgerId = await service.books.createLedger();
  await service.books.changeStatus(ledgerId, "closed");
  for (const status of ["active", "suspended"] as const) {
    await expect(service.books.changeStatus(ledgerId, status)).rejects.toThrow("closed");
  }
  expect((await service.get(`/v1/ledgers/${ledgerId}`)).body).toMatchObject({ status: "closed" });
});

test("what is told accepted before a suspension is in the ledger, and nothing after it", async () => {
  const ledgerId = await service.books.createLedger();
  const path = entriesPath(ledgerId);
  const post = () => service.post(path, entry());
  const early = Array.from({ length: 30 }, post);
  const suspending = service.books.changeStatus(ledgerId, "suspended");
  const during = Array.from({ length: 30 }, post);
  await suspending;
  const late = await Promise.all(Array.from({ length: 5 }, post));
  expect(late.map(({ status }) => status)).toEqual(Array(5).fill(403));
  const replies = await Promise.all([...early, ...during]);
  const accepted = replies.filter(({ status }) => status === 201);
  expect(replies.filter(({ status }) => status === 403)).toHaveLength(60 - accepted.length);
  expect((await listEntries(service, "", ledgerId)).total).toBe(accepted.length);
});

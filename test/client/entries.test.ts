// The client's posts of many entries where an answer gets lost.
import { afterAll, beforeAll, expect, test } from "vitest";
import { LedgerClient, ServiceProblem } from "../../src/client/ledger-client.ts";
import { entry, listEntries, postEntry } from "../support/entries.ts";
import { openLosingProxy, type LosingProxy } from "../support/losing-proxy.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
let proxy: LosingProxy;
let client: LedgerClient;

beforeAll(async () => {
  proxy = await openLosingProxy(service.port);
  client = new LedgerClient({ url: proxy.url, ...service.books.credentials });
});

afterAll(async () => {
  await client.close();
  proxy.close();
});

const { lines } = entry();

test("what got in before its answer was lost is told as posted, what others posted as a duplicate", async () => {
  const ledgerId = await service.books.createLedger();
  await postEntry(service, entry(5, { externalId: "theirs" }), ledgerId);
  const entries = [
    { lines },
    { lines, externalId: "ours" },
    { lines, externalId: "theirs" },
    { lines, entryType: "REVERSAL" as "STANDARD" },
  ];
  proxy.answersToLose = 1;
  const outcomes = await client.postEntries(ledgerId, entries);
  expect(outcomes.map(({ status }) => status)).toEqual([201, 201, 409, 400]);
  const stored = await listEntries(service, "?after=1", ledgerId);
  const told = outcomes.slice(0, 2).map(({ journalId }) => journalId);
  expect(stored.entries.map(({ journalId }) => journalId)).toEqual(told);
});

test("an atomic bulk whose answer was lost resolves as posted, and a second one is a duplicate", async () => {
  const ledgerId = await service.books.createLedger();
  proxy.answersToLose = 1;
  const entries = [{ lines, externalId: "first" }, { lines }];
  const written = await client.postAtomicEntries(ledgerId, entries);
  const stored = await listEntries(service, "", ledgerId);
  expect(stored.entries.map(({ journalId }) => journalId)).toEqual(
    written.map(({ journalId }) => journalId),
  );
  proxy.answersToLose = 1;
  const changed = [
    { lines, externalId: "new" },
    { lines: entry(7).lines, externalId: "first" },
  ];
  const again = client.postAtomicEntries(ledgerId, changed);
  await expect(again).rejects.toSatisfy(
    (error) => error instanceof ServiceProblem && error.code === "DUPLICATE_ENTRY",
  );
  expect((await listEntries(service, "", ledgerId)).total).toBe(2);
});

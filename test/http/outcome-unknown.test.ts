// COMMIT is carried out, its answer is lost, and the database stays away: nobody can tell in time.
import { expect, test } from "vitest";
import { entriesPath, entry, listEntries, postEntry, problem } from "../support/entries.ts";
import { openCuttingProxy } from "../support/cutting-proxy.ts";
import { createBooks, startService, type TestBooks } from "../support/service.ts";

/** Posts an entry whose COMMIT is lost; afterwards the database is back, and the entry is in it. */
async function postIntoTheUnknown(books: TestBooks, body: unknown, under = "") {
  const ledgerId = await books.createLedger();
  const proxy = await openCuttingProxy(books.databaseUrl);
  const service = await startService(books, { databaseUrl: proxy.url });
  await postEntry(service, entry(), ledgerId);
  const gone = proxy.cutNext("afterCommit").then(() => proxy.goAway());
  const reply = await service.post(`${entriesPath(ledgerId)}${under}`, body);
  await gone;
  await proxy.comeBack();
  const { total } = await listEntries(service, "", ledgerId);
  const again = await service.post(`${entriesPath(ledgerId)}${under}`, body);
  await service.stop();
  await proxy.close();
  return { reply, total, again };
}

test("an outcome that is unknown is told so, and only an externalId makes it safe to try again", async () => {
  const books = await createBooks();
  const [withId, without, withNull] = await Promise.all([
    postIntoTheUnknown(books, entry(1n, { externalId: "known again" })),
    postIntoTheUnknown(books, entry(1n)),
    postIntoTheUnknown(books, entry(1n, { externalId: null })),
  ]);
  for (const { reply, total } of [withId, without, withNull]) {
    expect(problem(reply)).toMatchObject({
      type: "urn:ledgerctl:problem:outcome-unknown",
      title: "Outcome unknown",
      status: 503,
      code: "OUTCOME_UNKNOWN",
    });
    // It was written, which nobody could know.
    expect(total).toBe(2);
  }
  expect(withId.reply.headers["retry-after"]).toMatch(/^[1-9][0-9]*$/);
  expect(without.reply.headers["retry-after"]).toBeUndefined();
  expect(withNull.reply.headers["retry-after"]).toBeUndefined();
  expect(problem(withId.again)).toMatchObject({ status: 409, code: "DUPLICATE_ENTRY" });
  expect(without.again.status).toBe(201);
  await books.drop();
});

test("of an atomic bulk, one externalId makes it safe to send all of it again", async () => {
  const books = await createBooks();
  const bulk = (...ids: (string | null)[]) => ({
    entries: ids.map((externalId) => entry(1n, { externalId })),
    atomic: true,
  });
  const [withId, without] = await Promise.all([
    postIntoTheUnknown(books, bulk(null, "known again"), "/bulk"),
    postIntoTheUnknown(books, bulk(null, null), "/bulk"),
  ]);
  for (const { reply, total } of [withId, without]) {
    expect(problem(reply)).toMatchObject({ status: 503, code: "OUTCOME_UNKNOWN" });
    expect(total).toBe(3);
  }
  expect(withId.reply.headers["retry-after"]).toMatch(/^[1-9][0-9]*$/);
  expect(without.reply.headers["retry-after"]).toBeUndefined();
  expect(problem(withId.again)).toMatchObject({ status: 409, code: "DUPLICATE_ENTRY" });
  await books.drop();
});

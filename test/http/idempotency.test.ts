// ExternalIds that are used again: retries, conflicts, many at once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateAccountActive } from "../../src/store/accounts.ts";
import {
  entriesPath,
  entry,
  entryWithLine,
  listEntries,
  postEntry,
  problem,
  readBalance,
  type Written,
} from "../support/entries.ts";
import { serveBooks, startService, type TestService } from "../support/service.ts";
import type { Reply } from "../support/signed-request.ts";

const service = serveBooks();
let other: TestService;

beforeAll(async () => {
  other = await startService(service.books);
});

afterAll(async () => {
  await other.stop();
});

/** That all replies but one are 409 and name the one that is 201. */
function expectOneWritten(replies: readonly Reply[]): Written {
  const created = replies.filter(({ status }) => status === 201);
  expect(created.map(({ status }) => status)).toEqual([201]);
  const first = created[0]?.body as Written;
  for (const reply of replies) {
    if (reply.status === 201) continue;
    expect(reply.status).toBe(409);
    expect(problem(reply)).toMatchObject({ code: "DUPLICATE_ENTRY", ...first });
  }
  return first;
}

describe("an externalId that is used again", () => {
  test("is refused with the first entry's id and time, whatever the body says", async () => {
    const path = entriesPath(service.books.ledgerId);
    const first = await postEntry(service, entry(5n, { externalId: "again" }));
    for (const body of [
      entry(5n, { externalId: "again" }),
      entry(6n, { externalId: "again", description: "another" }),
      { ...entryWithLine({ glAccountCode: "no" }), externalId: "again" },
    ]) {
      const reply = await service.post(path, body);
      expect(reply.status).toBe(409);
      expect(problem(reply)).toMatchObject({ code: "DUPLICATE_ENTRY", ...first });
    }
    expect((await listEntries(service, "?externalId=again")).total).toBe(1);
  });

  test("is another one in another ledger, and in another case", async () => {
    const body = entry(1n, { externalId: "per-ledger" });
    const first = await postEntry(service, body);
    const second = await postEntry(service, body, await service.books.createLedger());
    expect(second.journalId).not.toBe(first.journalId);
    await postEntry(service, entry(1n, { externalId: "Per-Ledger" }));
  });

  test("is not used up by an entry that was refused", async () => {
    const path = entriesPath(service.books.ledgerId);
    const refused = { ...entryWithLine({ glAccountCode: "no" }), externalId: "second try" };
    expect((await service.post(path, refused)).status).toBe(400);
    await postEntry(service, entry(1n, { externalId: "second try" }));
  });

  test("is shared between entries and reversals", async () => {
    const { journalId } = await postEntry(service, entry(1n, { externalId: "of an entry" }));
    const path = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    const taken = await service.post(path, { externalId: "of an entry" });
    expect(problem(taken)).toMatchObject({ status: 409, code: "DUPLICATE_ENTRY", journalId });
    const reversal = await service.post(path, { externalId: "of a reversal" });
    expect(reversal.status).toBe(201);
    const reused = await service.post(
      entriesPath(service.books.ledgerId),
      entry(1n, { externalId: "of a reversal" }),
    );
    expect(problem(reused)).toMatchObject({
      code: "DUPLICATE_ENTRY",
      ...(reversal.body as object),
    });
  });

  test("does not hinder entries without one", async () => {
    const { total } = await listEntries(service);
    await Promise.all(Array.from({ length: 10 }, () => postEntry(service, entry())));
    expect((await listEntries(service)).total).toBe(total + 10);
  });
});

describe("a retry of an entry that got in", () => {
  test("is told so after its account was deactivated", async () => {
    const ledgerId = await service.books.createLedger();
    const path = entriesPath(ledgerId);
    const body = entry(1n, { externalId: "kept" });
    const first = await postEntry(service, body, ledgerId);
    await updateAccountActive(service.books.pool, ledgerId, "1000", false);
    expect((await service.post(path, entry())).status).toBe(400);
    expect(problem(await service.post(path, body))).toMatchObject({ status: 409, ...first });
  });

  test("is told so after its ledger was suspended, and after it was closed", async () => {
    const ledgerId = await service.books.createLedger();
    const path = entriesPath(ledgerId);
    const body = entry(1n, { externalId: "kept" });
    const first = await postEntry(service, body, ledgerId);
    const reversal = await service.post(`${path}/${first.journalId}/reversal`, { externalId: "r" });
    for (const status of ["suspended", "closed"] as const) {
      await service.books.changeStatus(ledgerId, status);
      expect((await service.post(path, entry())).status).toBe(403);
      for (const each of [service, other]) {
        expect(problem(await each.post(path, body))).toMatchObject({ status: 409, ...first });
        const again = await each.post(`${path}/${first.journalId}/reversal`, { externalId: "r" });
        expect(problem(again)).toMatchObject({
          code: "DUPLICATE_ENTRY",
          ...(reversal.body as object),
        });
        expect(problem(await each.post(`${path}/${first.journalId}/reversal`))).toMatchObject({
          code: "ALREADY_REVERSED",
          reversalJournalId: (reversal.body as Written).journalId,
        });
      }
    }
  });
});

describe("many at once", () => {
  test("with one externalId: one gets in, the others are told", async () => {
    const before = await readBalance(service, "1000");
    const path = entriesPath(service.books.ledgerId);
    const replies = await Promise.all(
      Array.from({ length: 64 }, () => service.post(path, entry(7n, { externalId: "64" }))),
    );
    expectOneWritten(replies);
    const after = await readBalance(service, "1000");
    expect(after.balance - before.balance).toBe(7n);
  });

  test("with one externalId over two services on one database", async () => {
    const path = entriesPath(service.books.ledgerId);
    for (const externalId of ["two nodes", "two nodes again", "and again"]) {
      const replies = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          (index % 2 === 0 ? service : other).post(path, entry(7n, { externalId })),
        ),
      );
      const first = expectOneWritten(replies);
      const { entries, total } = await listEntries(
        service,
        `?externalId=${encodeURIComponent(externalId)}`,
      );
      expect(total).toBe(1);
      expect(entries[0]).toMatchObject(first);
    }
  });

  test("with externalIds that were used and new ones between them", async () => {
    const ledgerId = await service.books.createLedger();
    const path = entriesPath(ledgerId);
    const body = (index: number) => entry(1n, { externalId: `mixed-${index}` });
    const used = await Promise.all(
      Array.from({ length: 10 }, (_, index) => postEntry(service, body(2 * index), ledgerId)),
    );
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 3 === 0 ? service : other).post(path, body(index)),
      ),
    );
    replies.forEach((reply, index) => {
      expect(reply.status).toBe(index % 2 === 0 ? 409 : 201);
      if (index % 2 === 0) expect(reply.body).toMatchObject({ ...used[index / 2] });
    });
    const page = await listEntries(service, "", ledgerId);
    expect(page.entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  test("reversing one entry: one gets in, the others are told", async () => {
    const { journalId } = await postEntry(service, entry());
    const path = `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;
    const replies = await Promise.all(
      Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? service : other).post(path)),
    );
    const created = replies.filter(({ status }) => status === 201);
    expect(created).toHaveLength(1);
    const { journalId: reversalJournalId } = created[0]?.body as Written;
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      expect(problem(reply)).toMatchObject({ code: "ALREADY_REVERSED", reversalJournalId });
    }
  });
});

// Reversals: what they are made of, and what can't be reversed.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { updateAccountActive } from "../../src/store/accounts.ts";
import {
  entriesPath,
  entry,
  listEntries,
  pointers,
  postAndRead,
  postEntry,
  problem,
  readBalance,
  readEntry,
  reverseEntry,
  written,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { forge } from "../support/tampering.ts";

const service = serveBooks();
const reversalPath = (journalId: string) =>
  `${entriesPath(service.books.ledgerId)}/${journalId}/reversal`;

const original = {
  externalId: "to be reversed",
  originSystem: "billing",
  originAccount: "acme",
  eventType: "invoice.issued",
  description: "an invoice",
  transactionDate: "2026-01-31T12:00:00.000Z",
  entryType: "ADJUSTING",
  metadata: { of: "the original" },
  lines: [
    {
      glAccountCode: "1000",
      description: "debit",
      transactionAmount: "92",
      transactionCurrency: "EUR",
      functionalAmount: "100",
      spotRate: 1.0845,
    },
    {
      glAccountCode: "1000",
      description: "revaluation",
      transactionAmount: "0",
      transactionCurrency: "EUR",
      functionalAmount: "7",
    },
    { glAccountCode: "4000", functionalAmount: "-107" },
  ],
};

describe("a reversal", () => {
  test("mirrors the lines, keeps the date and points at the original, which points back", async () => {
    const { journalId } = await postEntry(service, original);
    const before = await readEntry(service, journalId);
    const reversal = await reverseEntry(service, journalId);
    const read = await readEntry(service, reversal.journalId);
    expect(read).toEqual({
      ...before,
      ...reversal,
      sequence: before.sequence + 1,
      externalId: null,
      originSystem: null,
      originAccount: null,
      eventType: null,
      description: null,
      metadata: {},
      entryType: "REVERSAL",
      reversesJournalId: journalId,
      reversedByJournalId: null,
      lines: [
        { ...before.lines[0], transactionAmount: "-92", functionalAmount: "-100" },
        { ...before.lines[1], transactionAmount: "0", functionalAmount: "-7" },
        { ...before.lines[2], transactionAmount: "107", functionalAmount: "107" },
      ],
    });
    expect(await readEntry(service, journalId)).toEqual({
      ...before,
      reversedByJournalId: reversal.journalId,
    });
  });

  test("brings every balance back, and counts as an entry", async () => {
    const before = await Promise.all([
      readBalance(service, "1000"),
      readBalance(service, "1000", "EUR"),
      readBalance(service, "4000"),
    ]);
    const { journalId } = await postEntry(service, { ...original, externalId: "balances" });
    await reverseEntry(service, journalId);
    const after = await Promise.all([
      readBalance(service, "1000"),
      readBalance(service, "1000", "EUR"),
      readBalance(service, "4000"),
    ]);
    expect(after).toEqual(
      before.map((balance) => ({ ...balance, entryCount: balance.entryCount + 2 })),
    );
  });

  test("is made where accounts are inactive by now", async () => {
    const ledgerId = await service.books.createLedger();
    const { journalId } = await postEntry(service, entry(), ledgerId);
    await updateAccountActive(service.books.pool, ledgerId, "1000", false);
    const reversal = await reverseEntry(service, journalId, ledgerId);
    expect((await readEntry(service, reversal.journalId, ledgerId)).lines[0]).toMatchObject({
      glAccountCode: "1000",
      functionalAmount: "-100",
    });
  });

  test("of 1,000 lines of 38 digits is exact", async () => {
    const amount = 10n ** 38n - 1n;
    const lines = Array.from({ length: 1000 }, (_, index) => ({
      glAccountCode: "1100",
      functionalAmount: String(index % 2 === 0 ? amount : -amount),
    }));
    const { journalId } = await postEntry(service, { lines });
    const read = await readEntry(service, (await reverseEntry(service, journalId)).journalId);
    expect(read.lines.map((line) => line["functionalAmount"])).toEqual(
      lines.map(({ functionalAmount }) => String(-BigInt(functionalAmount))),
    );
  });

  test("is found whatever the case of the ids in the path", async () => {
    const { journalId } = await postEntry(service, entry());
    const target = `${entriesPath(service.books.ledgerId.toUpperCase())}/${journalId.toUpperCase()}`;
    written(await service.post(`${target}/reversal`));
    expect((await service.get(target)).body).toMatchObject({
      journalId,
      ledgerId: service.books.ledgerId,
    });
  });
});

describe("the body of a reversal", () => {
  test.each([
    ["no body at all", undefined, undefined],
    ["an empty body", "", "application/json"],
    ["an empty body with another type", "", "text/plain"],
    ["an empty body with no type", "", undefined],
    ["an empty body with a type that is none", "", "}{"],
    ["an empty object", "{}", "application/json; charset=utf-8"],
    ["nulls", '{"externalId":null,"reason":null,"metadata":null}', "application/json"],
    ["null for all of it", "null", "application/json"],
  ])("may be left out: %s", async (name, body, type) => {
    const { journalId } = await postEntry(service, entry());
    const reply = await service.send({
      target: reversalPath(journalId),
      method: "POST",
      ...(body === undefined ? {} : { body }),
      headers: { "content-type": type },
    });
    // A body that is null is no object; only where there is no body none is needed.
    if (name === "null for all of it") expect(pointers(reply)).toEqual(["#"]);
    else expect(reply.status).toBe(201);
  });

  test("may set externalId, date, metadata, and a description or a reason", async () => {
    for (const text of ["description", "reason"]) {
      const { journalId } = await postEntry(service, entry());
      const body = {
        externalId: `reversal with ${text}`,
        transactionDate: "2026-03-01T00:00:00.000Z",
        metadata: { ticket: 7 },
      };
      const reversal = written(
        await service.post(reversalPath(journalId), { ...body, [text]: "posted twice" }),
      );
      expect(await readEntry(service, reversal.journalId)).toMatchObject({
        ...body,
        description: "posted twice",
      });
    }
  });

  test("says its reason once", async () => {
    const { journalId } = await postEntry(service, entry());
    const both = await service.post(reversalPath(journalId), { description: "a", reason: "b" });
    expect(pointers(both)).toEqual(["#/reason"]);
  });

  test("has no member that a reversal does not know", async () => {
    const { journalId } = await postEntry(service, entry());
    for (const name of ["lines", "entryType", "originSystem", "externalID", "__proto__"]) {
      const reply = await service.post(reversalPath(journalId), `{${JSON.stringify(name)}:1}`);
      expect(pointers(reply)).toEqual([`#/${name}`]);
    }
  });

  test.each(["[]", "{", '"x"', "\ufeff{}", " "])("is an object or nothing: %s", async (body) => {
    const { journalId } = await postEntry(service, entry());
    expect(pointers(await service.post(reversalPath(journalId), body))).toEqual(["#"]);
  });

  test("is JSON by its type when there is one", async () => {
    const { journalId } = await postEntry(service, entry());
    const target = reversalPath(journalId);
    const headers = { "content-type": "text/plain" };
    expect((await service.send({ target, body: "{}", headers })).status).toBe(415);
  });

  test("tells all its faults at once", async () => {
    const { journalId } = await postEntry(service, entry());
    const body = { externalId: "", transactionDate: "x", reason: "", metadata: [], extra: 1 };
    expect(new Set(pointers(await service.post(reversalPath(journalId), body)))).toEqual(
      new Set(["#/externalId", "#/transactionDate", "#/reason", "#/metadata", "#/extra"]),
    );
  });
});

describe("what can't be reversed", () => {
  test("is a reversal", async () => {
    const { journalId } = await postEntry(service, entry());
    const reversal = await reverseEntry(service, journalId);
    const reply = await service.post(reversalPath(reversal.journalId));
    expect(problem(reply)).toMatchObject({ status: 409, code: "REVERSAL_NOT_REVERSIBLE" });
  });

  test("is an entry that was reversed already", async () => {
    const { journalId } = await postEntry(service, entry());
    const { journalId: reversalJournalId } = await reverseEntry(service, journalId);
    const reply = await service.post(reversalPath(journalId), { externalId: "another" });
    expect(problem(reply)).toMatchObject({
      status: 409,
      code: "ALREADY_REVERSED",
      reversalJournalId,
    });
  });

  test("is an entry of another ledger, or none", async () => {
    const ledgerId = await service.books.createLedger();
    const { journalId } = await postEntry(service, entry(), ledgerId);
    for (const id of [journalId, randomUUID()]) {
      const reply = await service.post(reversalPath(id));
      expect(problem(reply)).toMatchObject({ status: 404, code: "ENTRY_NOT_FOUND" });
    }
    expect((await postAndRead(service, entry())).reversedByJournalId).toBeNull();
  });
});

test("an entry whose lines somebody deleted is read without them, and not reversed", async () => {
  const { ledgerId } = service.books;
  const { journalId } = await postEntry(service, entry(7n));
  await forge(
    service.books,
    `DELETE FROM journal_lines WHERE ledger_id = '${ledgerId}' AND sequence =
       (SELECT sequence FROM journal_entries
         WHERE ledger_id = '${ledgerId}' AND journal_id = '${journalId}')`,
  );
  expect(await readEntry(service, journalId)).toMatchObject({ journalId, lines: [] });
  const { entries, total } = await listEntries(service, "?limit=100");
  expect(entries).toHaveLength(total);
  expect(entries.at(-1)).toMatchObject({ journalId, lines: [] });
  // A reversal without lines would only add to it.
  expect((await service.post(reversalPath(journalId))).status).toBe(500);
  expect((await readEntry(service, journalId)).reversedByJournalId).toBeNull();
});

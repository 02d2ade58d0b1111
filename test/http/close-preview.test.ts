// What a close would do: a preview is held against the close that is made right after it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closePreviewReply } from "../../src/contract/replies.ts";
import type { ClosePreview, CloseWithBalances } from "../../src/contract/types.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { entry, pointers, postEntry, problem } from "../support/entries.ts";
import { countRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;

beforeAll(() => {
  engine = openEngine(service.books.databaseUrl);
});

afterAll(async () => {
  await engine.end();
});

const closesPath = (ledgerId: string) => `/v1/ledgers/${ledgerId}/period-closes`;
const pathOf = (ledgerId: string, query: string) => `${closesPath(ledgerId)}/preview?${query}`;
const dated = (transactionDate: string, amount = 100) => entry(amount, { transactionDate });

async function preview(ledgerId: string, query: string): Promise<ClosePreview> {
  const reply = await service.get(pathOf(ledgerId, query));
  expect(reply.status, reply.text).toBe(200);
  expect(closePreviewReply.parse(reply.body)).toEqual(reply.body);
  return reply.body as ClosePreview;
}

async function close(ledgerId: string, body: Record<string, unknown>): Promise<CloseWithBalances> {
  const made = await service.post(closesPath(ledgerId), body);
  expect(made.status, made.text).toBe(201);
  const { closeId } = made.body as { closeId: string };
  return (await service.get(`${closesPath(ledgerId)}/${closeId}`)).body as CloseWithBalances;
}

/** The figures of a preview and of the close that it is about are the same. */
async function expectTrue(
  previewed: ClosePreview,
  body: Record<string, unknown>,
): Promise<CloseWithBalances> {
  const made = await close(previewed.ledgerId, body);
  const columns = (
    row: CloseWithBalances["balances"][number] | ClosePreview["accounts"][number],
  ) => [row.glAccountCode, row.opening, row.debits, row.credits, row.closing];
  expect(previewed.accounts.map(columns)).toEqual(made.balances.map(columns));
  expect(previewed.entryCount).toBe(made.entryCount);
  expect(previewed.lastSequence + previewed.pendingPostings.length).toBe(made.lastSequence);
  return made;
}

describe("a preview", () => {
  test("has the entries and the trial balance that the close then has, and writes nothing", async () => {
    const ledgerId = await service.books.createLedger();
    for (const date of ["2025-12-31T00:00Z", "2026-01-01T00:00Z", "2026-01-31T00:00Z"]) {
      await postEntry(service, dated(date), ledgerId);
    }
    await postEntry(service, dated("2026-02-01T00:00Z"), ledgerId);
    const previewed = await preview(ledgerId, "periodId=2026-01");
    expect(previewed).toMatchObject({
      ledgerId,
      periodId: "2026-01",
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2026-02-01T00:00:00.000Z",
      functionalCurrency: "USD",
      entryCount: 2,
      balanced: true,
      closesToDate: false,
      endsInFuture: false,
      pendingPostings: [],
      assetsWithoutRate: [],
      unknownCurrencies: [],
      earlierOpen: [{ periodId: "2025-12", entryCount: 1 }],
      moved: [],
      close: null,
    });
    const closes = "SELECT 1 FROM period_closes WHERE ledger_id = $1";
    expect(await countRows(service, closes, [ledgerId])).toBe(0);
    await expectTrue(previewed, { periodId: "2026-01" });
  });

  test("has what wallets wait to have posted, and posts none of it", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, dated("2026-01-01T00:00Z"), ledgerId);
    const keys = [newKey(service, ledgerId), newKey(service, ledgerId)] as const;
    for (const key of keys) accepted(await move(service, key, "credit", 500));
    accepted(await move(service, keys[0], "debit", 120));
    const year = String(new Date().getUTCFullYear());
    const previewed = await preview(ledgerId, `periodId=${year}`);
    expect(previewed.endsInFuture).toBe(true);
    expect(previewed.pendingPostings).toMatchObject([
      { assetCode: "USD", isInPeriod: true, amount: "1120", writes: 3, wallets: 2 },
    ]);
    const entries = "SELECT 1 FROM journal_entries WHERE ledger_id = $1";
    expect(await countRows(service, entries, [ledgerId])).toBe(1);
    await expectTrue(previewed, { periodId: year });
  });

  test("names assets whose wallets wait for a rate, until they have one", async () => {
    const ledgerId = await service.books.createLedger();
    accepted(await move(service, newKey(service, ledgerId), "credit", 9, { assetCode: "EUR" }));
    const year = String(new Date().getUTCFullYear());
    const waiting = await preview(ledgerId, `periodId=${year}`);
    expect(waiting).toMatchObject({ assetsWithoutRate: ["EUR"], pendingPostings: [] });
    await engine.setRule(ledgerId, "EUR", { rate: "2" });
    const rated = await preview(ledgerId, `periodId=${year}`);
    expect(rated).toMatchObject({ assetsWithoutRate: [], pendingPostings: [{ amount: "18" }] });
    await expectTrue(rated, { periodId: year });
  });

  test("of wallets' writes in a period that is closed dates them behind it", async () => {
    const ledgerId = await service.books.createLedger();
    const year = new Date().getUTCFullYear();
    await close(ledgerId, { periodId: String(year) });
    accepted(await move(service, newKey(service, ledgerId), "credit", 9));
    const { pendingPostings, entryCount, accounts } = await preview(
      ledgerId,
      `periodId=${year - 1}`,
    );
    const transactionDate = `${year + 1}-01-01T00:00:00.000Z`;
    expect(pendingPostings).toMatchObject([{ transactionDate, isInPeriod: false }]);
    expect({ entryCount, accounts }).toEqual({ entryCount: 0, accounts: [] });
  });

  test("of a label that is no date says that it would close the books to date", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, dated("2026-01-01T00:00Z"), ledgerId);
    const first = await preview(ledgerId, "periodId=spring%20cleaning");
    expect(first).toMatchObject({ closesToDate: true, endsInFuture: false, startsAt: null });
    expect(first.endsAt).toBe(first.previewedAt);
    const made = await expectTrue(first, { periodId: "spring cleaning" });
    const next = await preview(ledgerId, "periodId=summer");
    expect(next).toMatchObject({ closesToDate: true, startsAt: made.endsAt, entryCount: 0 });
    const bounded = await preview(ledgerId, "periodId=summer&endsAt=2030-01-01T00:00Z");
    expect(bounded).toMatchObject({ closesToDate: false, endsInFuture: true });
    expect(bounded.startsAt).toBe(made.endsAt);
  });

  test("takes bounds as a close does", async () => {
    const ledgerId = await service.books.createLedger();
    for (const day of ["04", "05"])
      await postEntry(service, dated(`2026-01-${day}T00:00Z`), ledgerId);
    const bounds = { startsAt: "2026-01-05T00:00:00.000Z", endsAt: "2026-02-02T00:00:00.000Z" };
    const query = new URLSearchParams({ periodId: "2026-P1", ...bounds }).toString();
    const previewed = await preview(ledgerId, query);
    expect(previewed).toMatchObject({ ...bounds, entryCount: 1, closesToDate: false });
    await expectTrue(previewed, { periodId: "2026-P1", ...bounds });
  });

  test("of a closed period gives its close, and has nothing to post", async () => {
    const ledgerId = await service.books.createLedger();
    const { balances, ...record } = await close(ledgerId, { periodId: "2026-01" });
    expect(balances).toEqual([]);
    accepted(await move(service, newKey(service, ledgerId), "credit", 9));
    const again = await preview(ledgerId, "periodId=2026-01&endsAt=2026-03-01T00:00Z");
    expect(again).toMatchObject({ close: record, endsAt: record.endsAt, pendingPostings: [] });
    await service.books.changeStatus(ledgerId, "closed");
    expect((await preview(ledgerId, "periodId=2026-01")).close).toEqual(record);
    const refused = await service.get(pathOf(ledgerId, "periodId=2026-02"));
    expect(problem(refused)).toMatchObject({ status: 403, code: "LEDGER_CLOSED" });
  });
});

describe("what came too late", () => {
  test("is told by the months that are open before the period, wherever closes lie", async () => {
    const ledgerId = await service.books.createLedger();
    for (const date of ["2025-11-30", "2025-12-10", "2025-12-20", "2026-01-02", "2026-02-03"]) {
      await postEntry(service, dated(`${date}T00:00Z`), ledgerId);
    }
    const of = async (periodId: string) =>
      (await preview(ledgerId, `periodId=${periodId}`)).earlierOpen.map(
        ({ periodId: month, entryCount }) => `${month} ${entryCount}`,
      );
    expect(await of("2026-03")).toEqual(["2025-11 1", "2025-12 2", "2026-01 1", "2026-02 1"]);
    await close(ledgerId, { periodId: "2026-01" });
    expect(await of("2026-03")).toEqual(["2025-11 1", "2025-12 2", "2026-02 1"]);
    const half = { startsAt: "2025-12-15T00:00Z", endsAt: "2026-01-05T00:00Z" };
    await close(ledgerId, { periodId: "half", ...half });
    expect(await of("2026-03")).toEqual(["2025-11 1", "2025-12 1", "2026-02 1"]);
    expect(await of("2025-12")).toEqual(["2025-11 1"]);
    await close(ledgerId, { periodId: "2025" });
    await close(ledgerId, { periodId: "2026-02" });
    expect(await of("2026-03")).toEqual([]);
  });

  test("is told by the openings that it moved, of the last close and of the one before the period", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, dated("2026-01-02T00:00Z", 70), ledgerId);
    await close(ledgerId, { periodId: "2026-03" });
    await close(ledgerId, { periodId: "2026-02" });
    await close(ledgerId, { periodId: "2025-01" });
    expect((await preview(ledgerId, "periodId=2026-04")).moved).toEqual([]);
    await postEntry(service, dated("2026-01-03T00:00Z", 5), ledgerId);
    const { moved } = await preview(ledgerId, "periodId=2026-04");
    expect(moved).toMatchObject([
      {
        periodId: "2026-03",
        number: 1,
        accounts: [
          { glAccountCode: "1000", stored: { opening: "70" }, live: { opening: "75" } },
          { glAccountCode: "4000", stored: { opening: "-70" }, live: { opening: "-75" } },
        ],
      },
    ]);
    await close(ledgerId, { periodId: "2026-06" });
    await postEntry(service, dated("2026-05-03T00:00Z", 5), ledgerId);
    const both = await preview(ledgerId, "periodId=2026-04");
    expect(both.moved.map(({ periodId }) => periodId)).toEqual(["2026-03", "2026-06"]);
  });
});

describe("the query", () => {
  test.each([
    ["", ["periodId"]],
    ["periodId=2026-13", ["periodId"]],
    ["periodId=x&startsAt=2026-01-02T00:00Z&endsAt=2026-01-02T00:00Z", ["endsAt"]],
    ["periodId=2030-01&startsAt=2030-02-01T00:00Z", ["startsAt"]],
    ["periodId=2030-01&endsAt=2029-02-01T00:00Z", ["endsAt"]],
    ["periodId=2026-W99&startsAt=soon", ["periodId", "startsAt"]],
  ])("%j is 400", async (query, places) => {
    expect(pointers(await service.get(pathOf(service.books.ledgerId, query)))).toEqual(places);
  });

  test("is read by a path that no close has, and only with GET", async () => {
    const path = `${closesPath(service.books.ledgerId)}/preview`;
    const posted = await service.post(`${path}?periodId=2026-01`, {});
    expect(posted.status).toBe(405);
    expect(posted.headers["allow"]).toBe("GET");
    expect(problem(await service.get(`${path}/bundle`)).code).toBe("CLOSE_NOT_FOUND");
  });
});

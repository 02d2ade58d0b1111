// Closing periods while the books go on: what a close covers, what it refuses afterwards, and what
// happens when closes, writers and wallets meet. Roots are recomputed from what the API reads.
import { Agent } from "node:http";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import {
  balancesRootOf,
  closeHashOf,
  TrialBalance,
  type CloseRecord,
} from "../../src/core/close.ts";
import type { JsonValue } from "../../src/core/journal.ts";
import { hashLeaf, rootFromPath, rootOf } from "../../src/core/merkle.ts";
import { auditLedgers } from "../../src/audit/audit.ts";
import { proveEntry } from "../../src/engine/proofs.ts";
import { findEntry } from "../../src/store/journal-entries.ts";
import { listCloseBalances } from "../../src/store/period-closes.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { isCluster } from "../support/cluster.ts";
import { openEngine, neverPosting, type TestEngine } from "../support/engine.ts";
import {
  entriesPath,
  entry,
  postEntry,
  problem,
  readEntry,
  type ReadEntry,
} from "../support/entries.ts";
import { createBooks, serveBooks, startService } from "../support/service.ts";
import { sendRequest } from "../support/signed-request.ts";
import { countSleepers, slowDown, speedUp } from "../support/slow-tables.ts";
import { forge } from "../support/tampering.ts";
import { accepted, move, newKey } from "../support/wallets.ts";
import { until } from "../support/until.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;
let pool: Pool;

beforeAll(() => {
  engine = openEngine(service.books.databaseUrl);
  pool = new Pool({
    databaseUrl: service.books.databaseUrl,
    connectionsMax: 2,
    answerTimeoutMs: 60_000,
  });
});

afterAll(async () => {
  await engine.end();
  await pool.end();
});

async function readAll(ledgerId: string): Promise<ReadEntry[]> {
  const all: ReadEntry[] = [];
  for (let after = 0; ; after = all.length) {
    const reply = await service.get(`${entriesPath(ledgerId)}?limit=100&after=${after}`);
    const { entries, hasMore } = reply.body as { entries: ReadEntry[]; hasMore: boolean };
    all.push(...entries);
    if (!hasMore) return all;
  }
}

/** The leaf of what the API reads, but for the one member that can change. */
function leafOf(read: ReadEntry): Buffer {
  const { reversedByJournalId, ...document } = read;
  expect([null, "string"]).toContain(reversedByJournalId && typeof reversedByJournalId);
  return hashLeaf(canonicalJson(document as unknown as JsonValue));
}

/** Recomputes everything that a close claims from the entries that the API reads. */
async function expectTrue(close: CloseRecord): Promise<ReadEntry[]> {
  const covered = (await readAll(close.ledgerId)).slice(0, close.lastSequence);
  const before = covered.filter(
    (each) => close.startsAt !== null && each.transactionDate < close.startsAt,
  );
  const within = covered.filter(
    (each) => !before.includes(each) && each.transactionDate < close.endsAt,
  );
  const leaves = within.map(leafOf);
  expect(close.entryCount).toBe(within.length);
  expect(close.merkleRoot).toBe(rootOf(leaves).toString("hex"));
  const balances = new TrialBalance();
  const amounts = ({ lines }: ReadEntry) =>
    lines.map((line) => ({
      glAccountCode: String(line["glAccountCode"]),
      functionalAmount: BigInt(String(line["functionalAmount"])),
    }));
  for (const each of before) balances.addOpening(amounts(each));
  for (const each of within) balances.addEntry(amounts(each));
  expect(await listCloseBalances(pool, close)).toEqual(balances.rows());
  expect(close.balancesRoot).toBe(balancesRootOf(balances.rows()).toString("hex"));
  expect(close.closeHash).toBe(closeHashOf(close).toString("hex"));
  for (const { persistedAt } of covered) expect(persistedAt < close.closedAt).toBe(true);
  return within;
}

const dated = (transactionDate: string, amount = 100) => entry(amount, { transactionDate });

describe("a close", () => {
  test("covers the entries of its period, and nothing can be written into it or reversed in it", async () => {
    const ledgerId = await service.books.createLedger();
    const post = (date: string, amount?: number) =>
      postEntry(service, dated(date, amount), ledgerId);
    await post("2025-12-31T23:59:59.999Z", 7);
    const first = await post("2026-01-01T00:00:00.000Z", 11);
    await post("2026-01-31T23:59:59.999Z", 13);
    await post("2026-02-01T00:00:00.000Z", 17);
    const close = await engine.close(ledgerId, "2026-01", { reason: "month's end" });
    expect(close).toMatchObject({
      ledgerId,
      number: 1,
      periodId: "2026-01",
      reason: "month's end",
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2026-02-01T00:00:00.000Z",
      lastSequence: 4,
      entryCount: 2,
      previousCloseHash: null,
    });
    await expectTrue(close);
    const members = { periodId: "2026-01", closeId: close.closeId, code: "PERIOD_CLOSED" };
    const refused = await service.post(entriesPath(ledgerId), dated("2026-01-15T00:00:00Z"));
    expect(refused.status).toBe(409);
    expect(problem(refused)).toMatchObject(members);
    const reversal = `${entriesPath(ledgerId)}/${first.journalId}/reversal`;
    expect(problem(await service.post(reversal))).toMatchObject(members);
    // Also where the reversal itself would be dated in an open period.
    const later = await service.post(reversal, { transactionDate: "2026-02-02T00:00:00Z" });
    expect(problem(later)).toMatchObject(members);
    const next = await post("2026-02-02T00:00:00Z");
    expect(next.persistedAt > close.closedAt).toBe(true);
  });

  test("of a reversal's own date refuses it", async () => {
    const ledgerId = await service.books.createLedger();
    const { journalId } = await postEntry(service, dated("2026-03-05T00:00:00Z"), ledgerId);
    await engine.close(ledgerId, "2026-01");
    const reply = await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`, {
      transactionDate: "2026-01-05T00:00:00Z",
    });
    expect(problem(reply)).toMatchObject({ code: "PERIOD_CLOSED", periodId: "2026-01" });
    expect((await readEntry(service, journalId, ledgerId)).reversedByJournalId).toBeNull();
  });

  test("tells the retry of an entry that got in so, not that its period is closed", async () => {
    const ledgerId = await service.books.createLedger();
    const body = { ...dated("2026-01-05T00:00:00Z"), externalId: "once" };
    const { journalId } = await postEntry(service, body, ledgerId);
    await engine.close(ledgerId, "2026-01");
    const again = await service.post(entriesPath(ledgerId), body);
    expect(problem(again)).toMatchObject({ code: "DUPLICATE_ENTRY", journalId });
  });

  test("of one period is made once, whatever is asked for the second time", async () => {
    const ledgerId = await service.books.createLedger();
    const close = await engine.close(ledgerId, "2026-01", { reason: "first" });
    await postEntry(service, dated("2026-02-01T00:00:00Z"), ledgerId);
    expect(await engine.close(ledgerId, "2026-01", { reason: "second" })).toEqual(close);
    await engine.changeStatus(ledgerId, "closed");
    expect(await engine.close(ledgerId, "2026-01")).toEqual(close);
    await expect(engine.close(ledgerId, "2026-02")).rejects.toMatchObject({
      problem: "ledgerClosed",
    });
  });

  test("by a label that is no date goes up to now, from where closed books end", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, entry(5), ledgerId);
    const first = await engine.close(ledgerId, "opening");
    expect(first).toMatchObject({ startsAt: null, endsAt: first.closedAt, entryCount: 1 });
    const { journalId } = await postEntry(service, entry(6), ledgerId);
    const second = await engine.close(ledgerId, "clean-up");
    expect(second).toMatchObject({
      startsAt: first.endsAt,
      endsAt: second.closedAt,
      number: 2,
      entryCount: 1,
      previousCloseHash: first.closeHash,
    });
    expect((await expectTrue(second)).map((each) => each.journalId)).toEqual([journalId]);
    const third = await engine.close(ledgerId, "nothing");
    expect(third).toMatchObject({ startsAt: second.endsAt, entryCount: 0 });
    await expectTrue(third);
  });

  test("takes bounds of its own for any label", async () => {
    const ledgerId = await service.books.createLedger();
    const startsAt = "2026-01-05T00:00:00.000Z" as CloseRecord["endsAt"];
    const endsAt = "2026-02-02T00:00:00.000Z" as CloseRecord["endsAt"];
    expect(await engine.close(ledgerId, "4-4-5 #1", { startsAt, endsAt })).toMatchObject({
      startsAt,
      endsAt,
    });
    expect(await engine.close(ledgerId, "2026-02", { startsAt: endsAt })).toMatchObject({
      startsAt: endsAt,
      endsAt: "2026-03-01T00:00:00.000Z",
    });
    await expect(engine.close(ledgerId, "2026-03", { endsAt })).rejects.toMatchObject({
      problem: "validation",
      faults: [{ path: ["endsAt"] }],
    });
  });

  test("of a suspended ledger is made", async () => {
    const ledgerId = await service.books.createLedger();
    await engine.changeStatus(ledgerId, "suspended");
    await expectTrue(await engine.close(ledgerId, "2026-01"));
  });

  test("may come out of order: an earlier period stays open, and its entries move no root", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, dated("2026-02-03T00:00:00Z"), ledgerId);
    const february = await engine.close(ledgerId, "2026-02");
    await postEntry(service, dated("2026-01-03T00:00:00Z", 40), ledgerId);
    await expectTrue(february);
    await expectTrue(await engine.close(ledgerId, "2026-01"));
  });
});

describe("the opening of a close", () => {
  const post = (ledgerId: string, date: string, amount: number) =>
    postEntry(service, dated(`${date}T00:00:00Z`, amount), ledgerId);

  test("is what an earlier close says, and what came since, dated before it or between", async () => {
    const ledgerId = await service.books.createLedger();
    await post(ledgerId, "2025-12-05", 1);
    await post(ledgerId, "2026-01-05", 2);
    await post(ledgerId, "2026-02-05", 4);
    await post(ledgerId, "2026-03-05", 8);
    await expectTrue(await engine.close(ledgerId, "2026-01"));
    await post(ledgerId, "2025-12-06", 16);
    await post(ledgerId, "2026-02-06", 32);
    await post(ledgerId, "2026-03-06", 64);
    await expectTrue(await engine.close(ledgerId, "2026-03"));
    await post(ledgerId, "2025-11-06", 128);
    await post(ledgerId, "2026-02-07", 256);
    // It ends before the last close, and begins where the one before does.
    await expectTrue(await engine.close(ledgerId, "2026-02"));
    await expectTrue(await engine.close(ledgerId, "2026-Q2"));
  });

  test.each([
    ["trial balance", "period_close_balances", "opening = opening + 1, closing = closing + 1"],
    ["record", "period_closes", "last_sequence = 0"],
    ["amounts to none", "period_close_balances", "closing = 'NaN'"],
    ["counts to none", "period_closes", "entry_count = 9223372036854775807"],
    ["times to none", "period_closes", "closed_at = 'infinity'"],
  ])(
    "is summed from entries where the %s of that close was changed, and the log says so",
    async (_, table, change) => {
      const ledgerId = await service.books.createLedger();
      await post(ledgerId, "2025-12-05", 1);
      await post(ledgerId, "2026-01-05", 2);
      await engine.close(ledgerId, "2026-01");
      // What is forged is not the last close, which the next one is chained to.
      await engine.close(ledgerId, "2025-11");
      await post(ledgerId, "2026-02-05", 4);
      const isOfClose = `ledger_id = '${ledgerId}' AND number = 1`;
      await forge(service.books, `UPDATE ${table} SET ${change} WHERE ${isOfClose}`);
      const lines: string[] = [];
      const logging = await startService(service.books, {
        log: pino({}, { write: (line) => lines.push(line) }),
      });
      const path = `/v1/ledgers/${ledgerId}/period-closes`;
      const { status, body } = await logging.post(path, { periodId: "2026-02" });
      await logging.stop();
      expect(status).toBe(201);
      await expectTrue(body as CloseRecord);
      const told = lines.filter((line) => line.includes("an earlier close was changed"));
      expect(told).toEqual([expect.stringContaining(`"periodId":"2026-02"`)]);
    },
  );

  test("does not rest on the balances of accounts", async () => {
    const ledgerId = await service.books.createLedger();
    await post(ledgerId, "2026-01-05", 2);
    await post(ledgerId, "2026-02-05", 4);
    const isOfLedger = `WHERE ledger_id = '${ledgerId}'`;
    await forge(service.books, `UPDATE account_balances SET balance = balance + 1 ${isOfLedger}`);
    await expectTrue(await engine.close(ledgerId, "2026-02"));
    await expectTrue(await engine.close(ledgerId, "2026-03"));
  });
});

describe("closes that come in order", () => {
  test("leave no entries behind them, and close all that lies before them", async () => {
    const ledgerId = await service.books.createLedger({ closesInOrder: true });
    await postEntry(service, dated("2026-01-03T00:00:00Z"), ledgerId);
    const early = await postEntry(service, dated("2025-11-30T00:00:00Z"), ledgerId);
    const path = `/v1/ledgers/${ledgerId}/period-closes`;
    const refused = await service.post(path, { periodId: "2026-02" });
    expect(problem(refused)).toMatchObject({ status: 409, code: "PERIOD_OUT_OF_ORDER" });
    expect(refused.text).toContain("2025-11 (1), 2026-01 (1)");
    // Nothing is dated in December, which need not be closed on its own.
    for (const period of ["2025-11", "2026-01", "2026-02", "2026-Q1"]) {
      await expectTrue(await engine.close(ledgerId, period));
    }
    for (const date of ["2025-12-24T00:00:00Z", "2024-01-01T00:00:00Z"]) {
      const late = await service.post(entriesPath(ledgerId), dated(date));
      expect(problem(late)).toMatchObject({ status: 409, code: "PERIOD_CLOSED" });
    }
    const reversal = await service.post(`${entriesPath(ledgerId)}/${early.journalId}/reversal`);
    expect(problem(reversal).code).toBe("PERIOD_CLOSED");
    await postEntry(service, dated("2026-04-01T00:00:00Z"), ledgerId);
    // A period within what is closed has nothing behind it.
    await expectTrue(await engine.close(ledgerId, "2025-12"));
    expect((await service.post(path, { periodId: "2026-05" })).status).toBe(409);
    await expectTrue(await engine.close(ledgerId, "all of it"));
  });

  test("are told that a ledger is closed before they are told of their order", async () => {
    const ledgerId = await service.books.createLedger({ closesInOrder: true });
    await postEntry(service, dated("2026-01-03T00:00:00Z"), ledgerId);
    await service.books.changeStatus(ledgerId, "closed");
    const path = `/v1/ledgers/${ledgerId}/period-closes`;
    const refused = await service.post(path, { periodId: "2026-02" });
    expect(problem(refused)).toMatchObject({ status: 403, code: "LEDGER_CLOSED" });
  });

  test("have late wallets behind the last of them", async () => {
    const ledgerId = await service.books.createLedger({ closesInOrder: true });
    const far = await engine.close(ledgerId, "2998");
    accepted(await move(service, newKey(service, ledgerId), "credit", 20));
    await engine.post(ledgerId);
    expect((await readAll(ledgerId)).at(-1)?.transactionDate).toBe(far.endsAt);
  });
});

describe("wallets", () => {
  test("have what they accepted in the close, and what is late goes behind it", async () => {
    const ledgerId = await service.books.createLedger();
    const key = newKey(service, ledgerId);
    accepted(await move(service, key, "credit", 10));
    const year = String(new Date().getUTCFullYear());
    const close = await engine.close(ledgerId, year);
    expect(close.entryCount).toBe(1);
    await expectTrue(close);
    accepted(await move(service, key, "credit", 20));
    await engine.post(ledgerId);
    const last = (await readAll(ledgerId)).at(-1);
    expect(last?.transactionDate).toBe(close.endsAt);
    expect(String(last?.metadata["acceptedTo"]) < close.endsAt).toBe(true);
  });
});

describe("at once", () => {
  test("closes of one period are one record", async () => {
    const ledgerId = await service.books.createLedger();
    await postEntry(service, dated("2026-01-03T00:00:00Z"), ledgerId);
    const closes = await Promise.all(
      Array.from({ length: 4 }, () => engine.close(ledgerId, "2026-01")),
    );
    expect(new Set(closes.map(({ closeId }) => closeId)).size).toBe(1);
  });

  test("closes of several periods make one chain", async () => {
    const ledgerId = await service.books.createLedger();
    const labels = ["2026-01", "2026-02", "2026-Q1", "2026", "to date"];
    const closes = await Promise.all(labels.map((label) => engine.close(ledgerId, label)));
    closes.sort((a, b) => a.number - b.number);
    expect(closes.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(closes.slice(1).map(({ previousCloseHash }) => previousCloseHash)).toEqual(
      closes.slice(0, -1).map(({ closeHash }) => closeHash),
    );
    for (const close of closes) await expectTrue(close);
  });

  test("posts of 64 clients are in the root or refused, and none is lost", async () => {
    const ledgerId = await service.books.createLedger();
    let isClosing = true;
    const acceptedIds: string[] = [];
    let refusals = 0;
    const client = async () => {
      while (isClosing) {
        const reply = await service.post(entriesPath(ledgerId), dated("2026-01-20T00:00:00Z", 3));
        if (reply.status === 201) acceptedIds.push((reply.body as { journalId: string }).journalId);
        else {
          expect(problem(reply).code).toBe("PERIOD_CLOSED");
          refusals += 1;
        }
      }
    };
    const clients = Array.from({ length: 64 }, client);
    await until("200 entries", () => acceptedIds.length >= 200);
    const close = await engine.close(ledgerId, "2026-01");
    await until("a refusal for each client", () => refusals >= 64);
    isClosing = false;
    await Promise.all(clients);
    const within = await expectTrue(close);
    expect(within.map(({ journalId }) => journalId).sort()).toEqual(acceptedIds.sort());
  });

  test("closes while wallets are written: each write is posted once, and no root misses one", async () => {
    const ledgerId = await service.books.createLedger();
    const year = String(new Date().getUTCFullYear());
    const keys = Array.from({ length: 8 }, () => newKey(service, ledgerId));
    let isClosing = true;
    let credited = 0n;
    const clients = keys.map(async (key) => {
      while (isClosing) {
        accepted(await move(service, key, "credit", 7));
        credited += 7n;
      }
    });
    const closes: CloseRecord[] = [];
    for (const label of ["first", year, "second", `${year}-Q4`]) {
      const before = credited;
      await until("20 more credits", () => credited >= before + 140n);
      closes.push(await engine.close(ledgerId, label));
    }
    isClosing = false;
    await Promise.all(clients);
    await engine.post(ledgerId);
    for (const close of closes) await expectTrue(close);
    const posted = (await readAll(ledgerId)).flatMap(({ lines }) =>
      lines.map((line) => BigInt(String(line["functionalAmount"]))).filter((amount) => amount > 0n),
    );
    expect(posted.reduce((sum, amount) => sum + amount, 0n)).toBe(credited);
    const report = await pool.snapshot((reads) => auditLedgers(reads, ledgerId));
    expect(report?.checks.flatMap(({ findings }) => findings)).toEqual([]);
  });

  test("a close to date and posts: what is dated before it is in it", async () => {
    const ledgerId = await service.books.createLedger();
    let isClosing = true;
    const client = async () => {
      while (isClosing) await postEntry(service, entry(1), ledgerId);
    };
    const clients = Array.from({ length: 16 }, client);
    const closes: CloseRecord[] = [];
    for (let index = 0; index < 3; index += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      closes.push(await engine.close(ledgerId, `batch ${index}`));
    }
    isClosing = false;
    await Promise.all(clients);
    const all = await readAll(ledgerId);
    for (const close of closes) await expectTrue(close);
    const last = closes.at(-1);
    const before = all.filter(
      ({ transactionDate }) => last !== undefined && transactionDate < last.endsAt,
    );
    expect(closes.reduce((sum, { entryCount }) => sum + entryCount, 0)).toBe(before.length);
  });
});

test("every entry of a close has a proof that leads to its root", async () => {
  const ledgerId = await service.books.createLedger();
  for (let index = 0; index < 12; index += 1) {
    const date = index % 3 === 0 ? "2026-02-01T00:00:00Z" : "2026-01-03T00:00:00Z";
    await postEntry(service, dated(date, index + 1), ledgerId);
  }
  const close = await engine.close(ledgerId, "2026-01");
  for (const read of await readAll(ledgerId)) {
    const stored = await findEntry(pool, ledgerId, read.journalId);
    if (stored === null) throw new Error("the entry is there");
    const proving = proveEntry(pool, close, stored);
    if (read.transactionDate >= close.endsAt) {
      await expect(proving).rejects.toMatchObject({ problem: "entryNotFound" });
      continue;
    }
    const { leafIndex, treeSize, auditPath } = await proving;
    const root = rootFromPath(leafOf(read), leafIndex, treeSize, auditPath);
    expect(root?.toString("hex")).toBe(close.merkleRoot);
  }
});

// A view can't take the place of a table that is spread.
describe.skipIf(isCluster)("in books of many years", () => {
  const years = serveBooks(neverPosting);

  test("a close waits for its sums, and a proof for its leaves", async () => {
    const { ledgerId } = years.books;
    const { journalId } = await postEntry(years, entry(7n));
    const closes = `/v1/ledgers/${ledgerId}/period-closes`;
    await slowDown(years.books, "journal_lines", 6);
    const closed = await years.post(closes, { periodId: "to date" });
    expect(closed).toMatchObject({ status: 201, body: { entryCount: 1 } });
    await speedUp(years.books, "journal_lines");
    await slowDown(years.books, "period_close_subtrees", 6);
    const { closeId } = closed.body as CloseRecord;
    const proof = await years.get(`${closes}/${closeId}/proof?entryId=${journalId}`);
    expect(proof).toMatchObject({ status: 200, body: { leafIndex: 0, treeSize: 1 } });
  });

  test("a server that stops cancels the sums of a close, and says so to who asked for it", async () => {
    const books = await createBooks();
    const stopping = await startService(books, neverPosting);
    await postEntry(stopping, entry(7n));
    await slowDown(books, "journal_lines", 3_600);
    const closes = `/v1/ledgers/${books.ledgerId}/period-closes`;
    // Not over the connections of the test's own client, which go before the server does.
    const asked = { credentials: books.credentials, target: closes };
    const agent = new Agent();
    const body = JSON.stringify({ periodId: "to date" });
    const closed = sendRequest(stopping.port, agent, { ...asked, method: "POST", body });
    await expect.poll(() => countSleepers(books)).toBe(1);
    await stopping.stop();
    const reply = await closed;
    agent.destroy();
    expect(problem(reply)).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    expect(reply.headers["retry-after"]).toMatch(/^[1-3]$/);
    expect(reply.text).toContain("the server is stopping, and the period was not closed");
    // The database works on for nobody, and has kept nothing of it.
    await expect.poll(() => countSleepers(books)).toBe(0);
    await speedUp(books, "journal_lines");
    const again = await startService(books, neverPosting);
    expect((await again.get(closes)).body).toMatchObject({ total: 0 });
    expect(await again.post(closes, { periodId: "to date" })).toMatchObject({
      status: 201,
      body: { number: 1, entryCount: 1 },
    });
    await again.stop();
    await books.drop();
  });
});

test("a close that a standby never had is forgotten once that standby has taken over", async () => {
  const ledgerId = await service.books.createLedger();
  const post = (day: string) =>
    service.post(entriesPath(ledgerId), entry(1n, { transactionDate: `${day}T00:00:00Z` }));
  await engine.close(ledgerId, "2024-01");
  expect(problem(await post("2024-01-31"))).toMatchObject({ code: "PERIOD_CLOSED" });
  // As after a failover: it is gone, and another close has its number.
  await forge(service.books, `DELETE FROM period_closes WHERE ledger_id = '${ledgerId}'`);
  await engine.close(ledgerId, "2024-02");
  expect(problem(await post("2024-02-29"))).toMatchObject({ code: "PERIOD_CLOSED" });
  expect((await post("2024-01-31")).status).toBe(201);
});

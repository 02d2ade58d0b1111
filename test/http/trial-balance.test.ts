// The trial balance of the live books, against sums over the entries that the API lists.
import { describe, expect, test } from "vitest";
import { trialBalanceReply } from "../../src/contract/replies.ts";
import type { TrialBalance } from "../../src/contract/types.ts";
import { entry, listEntries, pointers, postEntry, problem } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

const pathOf = (ledgerId: string, query = "") => `/v1/ledgers/${ledgerId}/trial-balance${query}`;

async function read(ledgerId: string, query = ""): Promise<TrialBalance> {
  const reply = await service.get(pathOf(ledgerId, query));
  expect(reply.status, reply.text).toBe(200);
  expect(trialBalanceReply.parse(reply.body)).toEqual(reply.body);
  return reply.body as TrialBalance;
}

async function close(ledgerId: string, periodId: string): Promise<{ closeId: string }> {
  const reply = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, { periodId });
  expect(reply.status, reply.text).toBe(201);
  return reply.body as { closeId: string };
}

/** Rows as an independent reader sums them from a list of entries: code to opening, debits, credits. */
async function summed(
  ledgerId: string,
  startsAt: string,
  endsAt: string,
): Promise<Record<string, string[]>> {
  const { entries } = await listEntries(service, "?limit=100", ledgerId);
  const rows: Record<string, [bigint, bigint, bigint]> = {};
  for (const { transactionDate, lines } of entries) {
    if (transactionDate >= endsAt) continue;
    for (const line of lines) {
      const row = (rows[String(line["glAccountCode"])] ??= [0n, 0n, 0n]);
      const amount = BigInt(String(line["functionalAmount"]));
      const column = transactionDate < startsAt ? 0 : amount > 0n ? 1 : 2;
      row[column] += amount;
    }
  }
  return Object.fromEntries(
    Object.entries(rows).map(([code, row]) => [
      code,
      [...row, row[0] + row[1] + row[2]].map(String),
    ]),
  );
}

const figures = ({ accounts }: TrialBalance) =>
  Object.fromEntries(
    accounts.map(({ glAccountCode, opening, debits, credits, closing }) => [
      glAccountCode,
      [opening, debits, credits, closing],
    ]),
  );

const dated = (transactionDate: string, amount: bigint | number = 100) =>
  entry(amount, { transactionDate });
const between = (debited: string, credited: string, amount: number, transactionDate: string) => ({
  transactionDate,
  lines: [
    { glAccountCode: debited, functionalAmount: String(amount) },
    { glAccountCode: credited, functionalAmount: String(-amount) },
  ],
});

async function threeMonths(): Promise<string> {
  const ledgerId = await service.books.createLedger();
  await postEntry(service, dated("2026-01-05T00:00:00Z", 700), ledgerId);
  await postEntry(service, dated("2026-02-01T00:00:00.000Z", 10n ** 37n), ledgerId);
  await postEntry(service, between("1100", "1000", 40, "2026-02-28T23:59:59.999Z"), ledgerId);
  await postEntry(service, dated("2026-03-01T00:00:00.000Z", 5), ledgerId);
  return ledgerId;
}

describe("a trial balance", () => {
  test("of a period has what came before as openings, with names and types of the chart", async () => {
    const ledgerId = await threeMonths();
    const balance = await read(ledgerId, "?periodId=2026-02");
    const bounds = ["2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"] as const;
    expect(balance).toMatchObject({
      ledgerId,
      periodId: "2026-02",
      startsAt: bounds[0],
      endsAt: bounds[1],
      functionalCurrency: "USD",
      lastSequence: 4,
      balanced: true,
      close: null,
      moved: [],
    });
    expect(figures(balance)).toEqual(await summed(ledgerId, ...bounds));
    const chart = (await service.get(`/v1/ledgers/${ledgerId}/accounts`)).body as {
      accounts: { glAccountCode: string; name: string; type: string | null }[];
    };
    const known = new Map(chart.accounts.map((account) => [account.glAccountCode, account]));
    expect(balance.accounts.map(({ glAccountCode }) => glAccountCode)).toEqual(
      Object.keys(figures(balance)).sort(),
    );
    for (const { glAccountCode, name, type } of balance.accounts) {
      expect({ name, type }).toEqual({
        name: known.get(glAccountCode)?.name,
        type: known.get(glAccountCode)?.type,
      });
    }
    expect(balance.totals).toEqual({
      opening: "0",
      debits: String(10n ** 37n + 40n),
      credits: String(-(10n ** 37n) - 40n),
      closing: "0",
    });
  });

  test("as of a moment leaves out what is dated at it, and has no openings", async () => {
    const ledgerId = await threeMonths();
    for (const asOf of ["2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00.000Z"]) {
      const balance = await read(ledgerId, `?asOf=${asOf}`);
      expect(balance).toMatchObject({ periodId: null, startsAt: null, endsAt: asOf });
      expect(figures(balance)).toEqual(await summed(ledgerId, "", asOf));
    }
    expect((await read(ledgerId, "?asOf=2025-01-01T00:00Z")).accounts).toEqual([]);
  });

  test("of neither has everything up to now, the entry just posted too, but nothing dated later", async () => {
    const ledgerId = await threeMonths();
    await postEntry(service, dated("2099-01-01T00:00:00Z"), ledgerId);
    for (let index = 0; index < 5; index += 1) {
      await postEntry(service, entry(1), ledgerId);
      const balance = await read(ledgerId);
      expect(figures(balance)).toEqual(await summed(ledgerId, "", "2099-01-01T00:00:00.000Z"));
      expect(balance.lastSequence).toBe(6 + index);
    }
  });

  test("of an empty ledger balances", async () => {
    const balance = await read(await service.books.createLedger());
    expect(balance).toMatchObject({ accounts: [], balanced: true, lastSequence: 0 });
    expect(balance.totals).toEqual({ opening: "0", debits: "0", credits: "0", closing: "0" });
  });
});

describe("a closed period", () => {
  test("is told with its close, and accounts whose opening has moved since", async () => {
    const ledgerId = await threeMonths();
    const { closeId } = await close(ledgerId, "2026-02");
    const before = await read(ledgerId, "?periodId=2026-02");
    expect(before).toMatchObject({ close: { closeId, periodId: "2026-02" }, moved: [] });
    await postEntry(service, between("1100", "4000", 3, "2026-01-31T00:00:00Z"), ledgerId);
    await postEntry(service, dated("2026-03-31T00:00:00Z"), ledgerId);
    const after = await read(ledgerId, "?periodId=2026-02");
    const stored = figures(before);
    const live = figures(after);
    expect(after.moved.map(({ glAccountCode }) => glAccountCode)).toEqual(["1100", "4000"]);
    for (const { glAccountCode, stored: then, live: now } of after.moved) {
      const columns = (row: typeof then) => [row.opening, row.debits, row.credits, row.closing];
      expect(columns(then)).toEqual(stored[glAccountCode]);
      expect(columns(now)).toEqual(live[glAccountCode]);
      expect(then.entryCount).toBe(now.entryCount);
      expect(then.opening).not.toBe(now.opening);
    }
    expect(after.balanced).toBe(true);
  });

  test("with a label that is no date has the bounds that it was closed with", async () => {
    const ledgerId = await threeMonths();
    await close(ledgerId, "first books");
    const { startsAt, endsAt, close: closed } = await read(ledgerId, "?periodId=first%20books");
    expect({ startsAt, endsAt }).toEqual({ startsAt: null, endsAt: closed?.endsAt });
  });
});

describe("the query", () => {
  test.each([
    ["asOf=2026-01-01T00:00:00Z&periodId=2026-01", ["periodId"]],
    ["asOf=yesterday", ["asOf"]],
    ["asOf=2026-01-01", ["asOf"]],
    ["periodId=2026-13", ["periodId"]],
    ["periodId=", ["periodId"]],
    ["periodId=2026-01&periodId=2026-02", ["periodId"]],
  ])("%s is 400", async (query, places) => {
    expect(pointers(await service.get(pathOf(service.books.ledgerId, `?${query}`)))).toEqual(
      places,
    );
  });

  test("for a label that no close has, and that is no date, is 404", async () => {
    const reply = await service.get(pathOf(service.books.ledgerId, "?periodId=never"));
    expect(problem(reply)).toMatchObject({ status: 404, code: "CLOSE_NOT_FOUND" });
  });

  test("needs the scope read, and a ledger of the caller's", async () => {
    const credentials = await service.books.createKey({ scopes: ["entries:write"] });
    const target = pathOf(service.books.ledgerId);
    const reply = await service.send({ target, credentials });
    expect(problem(reply)).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const organizationId = await service.books.createOrganization();
    const foreign = await service.books.createLedger({ organizationId });
    expect((await service.get(pathOf(foreign))).status).toBe(404);
  });
});

// Reading ledgers and their charts of accounts.
import { beforeAll, describe, expect, test } from "vitest";
import type { Timestamp } from "../../src/core/time.ts";
import { upsertAccounts } from "../../src/store/accounts.ts";
import { pointers } from "../support/entries.ts";
import { setAssetRule } from "../../src/engine/assets.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();

interface LedgerReply {
  id: string;
  status: string;
  createdAt: string;
}

async function listLedgers(): Promise<LedgerReply[]> {
  const { body } = await service.get("/v1/ledgers");
  return (body as { ledgers: LedgerReply[] }).ledgers;
}

async function listCodes(ledgerId: string, query = ""): Promise<string[]> {
  const { body } = await service.get(`/v1/ledgers/${ledgerId}/accounts${query}`);
  const { accounts } = body as { accounts: { glAccountCode: string }[] };
  return accounts.map(({ glAccountCode }) => glAccountCode);
}

describe("a ledger", () => {
  test("has its members, in the list and by itself", async () => {
    const { ledgerId } = service.books;
    const { body } = await service.get(`/v1/ledgers/${ledgerId}`);
    expect(body).toEqual({
      id: ledgerId,
      name: "Books",
      status: "active",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      metadata: {},
      functionalCurrency: "USD",
    });
    expect(await listLedgers()).toContainEqual(body);
  });

  test("is found whatever the case of its id", async () => {
    const { ledgerId } = service.books;
    const { body } = await service.get(`/v1/ledgers/${ledgerId.toUpperCase()}`);
    expect(body).toMatchObject({ id: ledgerId });
  });

  test("tells its state at once", async () => {
    const ledgerId = await service.books.createLedger();
    for (const status of ["suspended", "active", "closed"] as const) {
      await service.books.changeStatus(ledgerId, status);
      expect((await service.get(`/v1/ledgers/${ledgerId}`)).body).toMatchObject({ status });
    }
  });
});

describe("the ledgers of an organization", () => {
  test("come by creation, and none of another organization is among them", async () => {
    const mine: string[] = [];
    const organizationId = await service.books.createOrganization();
    for (let count = 0; count < 3; count += 1) {
      mine.push(await service.books.createLedger());
      await service.books.createLedger({ organizationId });
    }
    const listed = await listLedgers();
    expect(listed.slice(-3).map(({ id }) => id)).toEqual(mine);
    const keys = listed.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(keys).toEqual([...keys].sort());
    const credentials = await service.books.createKey({ organizationId });
    const { body } = await service.send({ target: "/v1/ledgers", credentials });
    expect((body as { ledgers: unknown[] }).ledgers).toHaveLength(3);
  });

  test("are none where none was made", async () => {
    const organizationId = await service.books.createOrganization();
    const credentials = await service.books.createKey({ organizationId });
    const { body } = await service.send({ target: "/v1/ledgers", credentials });
    expect(body).toEqual({ ledgers: [] });
  });

  test("are listed whatever the query says", async () => {
    expect((await service.get("/v1/ledgers?limit=x&limit=y")).status).toBe(200);
  });
});

describe("the chart of accounts", () => {
  let ledgerId: string;
  const codes = ["Z", "a", "é", "\uffff", "😀", "10", "1", "1 0", "\ue000"];

  beforeAll(async () => {
    ledgerId = await service.books.createLedger();
    await upsertAccounts(
      service.books.pool,
      ledgerId,
      codes.map((glAccountCode) => ({ glAccountCode, name: "x", type: "asset", active: null })),
      new Date().toISOString() as Timestamp,
    );
  });

  test("is ordered by the UTF-8 bytes of its codes", async () => {
    const listed = await listCodes(ledgerId);
    const sorted = [...listed].sort((left, right) =>
      Buffer.compare(Buffer.from(left), Buffer.from(right)),
    );
    expect(listed).toEqual(sorted);
    expect(listed).toEqual(expect.arrayContaining([...codes, "9000", "wallets:USD"]));
  });

  test("has each account with its members", async () => {
    const { body } = await service.get(`/v1/ledgers/${ledgerId}/accounts`);
    const { accounts } = body as { accounts: unknown[] };
    expect(accounts).toContainEqual({
      glAccountCode: "1000",
      name: "Account 1000",
      active: true,
      type: null,
    });
    expect(accounts).toContainEqual({ glAccountCode: "Z", name: "x", active: true, type: "asset" });
  });

  test("leaves out the inactive ones only when asked to", async () => {
    expect(await listCodes(ledgerId)).toContain("9000");
    expect(await listCodes(ledgerId, "?activeOnly=false")).toContain("9000");
    const active = await listCodes(ledgerId, "?activeOnly=true");
    expect(active).not.toContain("9000");
    expect(active).toContain("1000");
  });

  test.each(["", "=", "=1", "=TRUE", "=yes", "=true&activeOnly=true", "=%ff"])(
    "takes activeOnly as true or false and not '%s'",
    async (value) => {
      const reply = await service.get(`/v1/ledgers/${ledgerId}/accounts?activeOnly${value}`);
      expect(pointers(reply)).toEqual(["activeOnly"]);
    },
  );
});

test("the rules of assets come by code, of each the newest", async () => {
  const { books } = service;
  const ledgerId = await books.createLedger();
  const assetsOf = async () => (await service.get(`/v1/ledgers/${ledgerId}/assets`)).body;
  expect(await assetsOf()).toEqual({ assets: [] });
  await setAssetRule(books.pool, ledgerId, "POINTS", { exponent: 2, overdraftLimit: 500n });
  await setAssetRule(books.pool, ledgerId, "EUR", {});
  await setAssetRule(books.pool, ledgerId, "POINTS", { rate: "0.5" });
  const pairOf = (code: string) => ({
    walletsAccount: `wallets:${code}`,
    clearingAccount: `wallets-clearing:${code}`,
  });
  const unlimited = { maxBalance: null, dailyDebitMax: null };
  const euros = { ...pairOf("EUR"), overdraftLimit: "0", ...unlimited };
  const points = { ...pairOf("POINTS"), overdraftLimit: "500", ...unlimited };
  expect(await assetsOf()).toEqual({
    assets: [
      { assetCode: "EUR", rate: null, exponent: 2, ...euros },
      { assetCode: "POINTS", rate: "0.5", exponent: 2, ...points },
    ],
  });
});

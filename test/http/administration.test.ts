// Administration through the API: who may, what is made, renamed and changed, what is refused, and what the record says.
import { beforeAll, describe, expect, test } from "vitest";
import { entriesPath, entry, pointers, problem } from "../support/entries.ts";
import { readRows } from "../support/rows.ts";
import { serveBooks } from "../support/service.ts";
import type { Credentials, Reply } from "../support/signed-request.ts";

const service = serveBooks();
let admin: Credentials;
let ledgerId: string;

beforeAll(async () => {
  admin = await service.books.createKey({ scopes: ["admin"] });
  ledgerId = await service.books.createLedger();
});

const send = (method: string, path: string, body: unknown, credentials = admin): Promise<Reply> =>
  service.send({
    target: `/v1/ledgers/${ledgerId}${path}`,
    method,
    body: JSON.stringify(body),
    credentials,
  });

const postAccounts = (...accounts: object[]) => send("POST", "/accounts", { accounts });
const putRule = (code: string, change: object) =>
  send("PUT", `/assets/${encodeURIComponent(code)}`, change);

async function chart(): Promise<Map<string, object>> {
  const { body } = await service.get(`/v1/ledgers/${ledgerId}/accounts`);
  const { accounts } = body as { accounts: { glAccountCode: string }[] };
  return new Map(accounts.map((account) => [account.glAccountCode, account]));
}

async function ruleOf(code: string): Promise<object | undefined> {
  const { body } = await service.get(`/v1/ledgers/${ledgerId}/assets`);
  return (body as { assets: { assetCode: string }[] }).assets.find((a) => a.assetCode === code);
}

describe("the scope admin", () => {
  test("is not among those of a key that was made without naming any", async () => {
    const { credentials } = service.books;
    const row = { glAccountCode: "6000", name: "Travel" };
    for (const reply of [
      await send("POST", "/accounts", { accounts: [row] }, credentials),
      await send("PUT", "/assets/EUR", { rate: "1.1" }, credentials),
    ]) {
      expect(reply.status).toBe(403);
      expect(problem(reply)).toMatchObject({
        code: "INSUFFICIENT_SCOPE",
        detail: "the API key lacks the scope admin",
      });
    }
    expect((await chart()).has("6000")).toBe(false);
  });

  test("by itself neither reads nor writes", async () => {
    const credentials = admin;
    const target = entriesPath(ledgerId);
    expect((await service.send({ target, credentials })).status).toBe(403);
    const body = JSON.stringify(entry());
    expect((await service.send({ target, credentials, body })).status).toBe(403);
  });

  test("is no way into another organization's ledger", async () => {
    const organizationId = await service.books.createOrganization();
    const foreign = await service.books.createKey({ organizationId, scopes: ["admin"] });
    const body = { accounts: [{ glAccountCode: "6000", name: "Travel" }] };
    expect((await send("POST", "/accounts", body, foreign)).status).toBe(404);
  });
});

describe("accounts", () => {
  test("are made, and answered by code with all their members", async () => {
    const reply = await postAccounts(
      { glAccountCode: "6100", name: "Téléphone", type: "expense" },
      { glAccountCode: "6050", name: "Old", active: false },
    );
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      accounts: [
        { glAccountCode: "6050", name: "Old", type: null, active: false },
        { glAccountCode: "6100", name: "Téléphone", type: "expense", active: true },
      ],
    });
  });

  test("are renamed; type and active stay unless they are given", async () => {
    await postAccounts({ glAccountCode: "6200", name: "A", type: "expense", active: false });
    const renamed = await postAccounts({ glAccountCode: "6200", name: "B" });
    const account = { glAccountCode: "6200", name: "B", type: "expense", active: false };
    expect(renamed.body).toEqual({ accounts: [account] });
    const typed = await postAccounts({
      ...{ glAccountCode: "6200", name: "B", type: "asset", active: true },
    });
    expect(typed.body).toEqual({ accounts: [{ ...account, type: "asset", active: true }] });
    expect((await chart()).get("6200")).toEqual({ ...account, type: "asset", active: true });
  });

  test("that are sent again as they are change nothing, and leave no act", async () => {
    const row = { glAccountCode: "6300", name: "Same", type: "expense", active: true };
    const first = await postAccounts(row);
    const acts = await countActs();
    expect((await postAccounts(row)).body).toEqual(first.body);
    expect(await countActs()).toBe(acts);
  });

  test("take entries as soon as they are there, and none once they are inactive", async () => {
    await postAccounts({ glAccountCode: "6400", name: "New" });
    const lines = [
      { glAccountCode: "6400", functionalAmount: "5" },
      { glAccountCode: "1000", functionalAmount: "-5" },
    ];
    expect((await service.post(entriesPath(ledgerId), { lines })).status).toBe(201);
    await postAccounts({ glAccountCode: "6400", name: "New", active: false });
    expect((await service.post(entriesPath(ledgerId), { lines })).status).toBe(400);
  });

  test("are refused with every fault at once, and nothing is made", async () => {
    const before = await chart();
    const reply = await postAccounts(
      { glAccountCode: "6500", name: "A" },
      { glAccountCode: "", name: "x\u0000", type: "cash", active: "yes" },
      { glAccountCode: "6500", name: "B", colour: "red" },
      { name: "\ud800" },
    );
    expect(reply.status).toBe(400);
    expect(pointers(reply).sort()).toEqual([
      "#/accounts/1/active",
      "#/accounts/1/glAccountCode",
      "#/accounts/1/name",
      "#/accounts/1/type",
      "#/accounts/2/colour",
      "#/accounts/3/glAccountCode",
      "#/accounts/3/name",
    ]);
    const repeated = await postAccounts(
      { glAccountCode: "6500", name: "A" },
      { glAccountCode: "6500", name: "B" },
    );
    expect(problem(repeated).errors).toEqual([
      { pointer: "#/accounts/1/glAccountCode", detail: "is the same as in accounts/0" },
    ]);
    expect(await chart()).toEqual(before);
  });

  test("are taken up to 1,000 at a time", async () => {
    const rows = Array.from({ length: 1_001 }, (_, index) => ({
      glAccountCode: `many-${index}`,
      name: "Many",
    }));
    expect(pointers(await postAccounts(...rows))).toEqual(["#/accounts"]);
    expect(pointers(await postAccounts())).toEqual(["#/accounts"]);
    const reply = await postAccounts(...rows.slice(1));
    expect(reply.status).toBe(200);
    expect((reply.body as { accounts: unknown[] }).accounts).toHaveLength(1_000);
  });

  test("that wallets are posted to are not deactivated, and nothing else of the request is done", async () => {
    await putRule("MILES", { walletsAccount: "2000", clearingAccount: "1100" });
    const reply = await postAccounts(
      { glAccountCode: "6600", name: "New" },
      { glAccountCode: "1100", name: "Receivable", active: false },
      { glAccountCode: "2000", name: "Payable", active: false },
    );
    expect(reply.status).toBe(409);
    expect(problem(reply)).toMatchObject({
      code: "ACCOUNT_IN_USE",
      detail:
        'wallets of MILES are posted to account "1100"; wallets of MILES are posted to account "2000"; ' +
        "give them another account first",
    });
    expect((await chart()).has("6600")).toBe(false);
    expect((await chart()).get("2000")).toMatchObject({ active: true, name: "Account 2000" });
  });
});

describe("the rule of an asset", () => {
  const pair = (code: string) => ({
    walletsAccount: `wallets:${code}`,
    clearingAccount: `wallets-clearing:${code}`,
  });

  test("is made and changed; what is left out or null stays", async () => {
    const made = await putRule("eur", { rate: "1.0845", overdraftLimit: "500" });
    const rule = {
      ...{ assetCode: "EUR", rate: "1.0845", exponent: 2, ...pair("EUR") },
      overdraftLimit: "500",
    };
    expect(made).toMatchObject({ status: 200 });
    expect(made.body).toMatchObject(rule);
    await putRule("EUR", { rate: "1.1", walletsAccount: null });
    expect(await ruleOf("EUR")).toMatchObject({ ...rule, rate: "1.1" });
    expect((await putRule("EUR", {})).body).toMatchObject({ ...rule, rate: "1.1" });
  });

  test('has its limit and its rate taken away by "none"', async () => {
    await putRule("CHF", { rate: "1.2", overdraftLimit: "9" });
    await putRule("CHF", { rate: "none", overdraftLimit: "none" });
    expect(await ruleOf("CHF")).toMatchObject({ rate: null, overdraftLimit: "0" });
  });

  test("gets no new version by what changes nothing", async () => {
    const versions = () =>
      readRows(
        service,
        "SELECT version FROM asset_rules WHERE ledger_id = $1 AND asset_code = 'TWICE'",
        [ledgerId],
      );
    await putRule("TWICE", { exponent: 3 });
    await putRule("TWICE", { exponent: 3 });
    await putRule("TWICE", {});
    expect(await versions()).toEqual([{ version: 1 }]);
    await putRule("TWICE", { exponent: 4 });
    expect(await versions()).toEqual([{ version: 1 }, { version: 2 }]);
  });

  test("takes a code with what a path has to escape", async () => {
    const reply = await putRule("a/b:c", { exponent: 1 });
    expect(reply.body).toMatchObject({ assetCode: "a/b:c", exponent: 1, rate: "1" });
  });

  test.each([
    [{ rate: "0" }, ["#/rate"]],
    [{ rate: 1.5 }, ["#/rate"]],
    [
      { rate: "1e3", exponent: 19, overdraftLimit: "-1" },
      ["#/rate", "#/exponent", "#/overdraftLimit"],
    ],
    [{ overdraftLimit: "007" }, ["#/overdraftLimit"]],
    [{ overdraftLimit: "9".repeat(39) }, ["#/overdraftLimit"]],
    [{ exponent: 3 }, ["#/exponent"]],
    [{ walletsAccount: "", clearingAccount: "a\u0000" }, ["#/walletsAccount", "#/clearingAccount"]],
    [{ walletsAccount: "no", clearingAccount: "nor" }, ["#/walletsAccount", "#/clearingAccount"]],
    [{ overdraft: "5" }, ["#/overdraft"]],
    [[], ["#"]],
  ])("is refused where %j is wrong, with every fault at once", async (change, places) => {
    const before = await ruleOf("JPY");
    const code = "exponent" in change && change.exponent === 3 ? "USD" : "POINTS";
    expect(pointers(await putRule(code, change))).toEqual(places);
    expect(await ruleOf("JPY")).toEqual(before);
  });

  test("is refused where its two accounts are one, or the ledger's own currency has a rate", async () => {
    const same = await putRule("POINTS", { walletsAccount: "2000", clearingAccount: "2000" });
    expect(problem(same)).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    const own = await putRule("USD", { rate: "2" });
    expect(problem(own)).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(problem(await putRule("a b", {}))).toMatchObject({ status: 400 });
  });

  test("is answered to PUT alone", async () => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const reply = await send(method, "/assets/EUR", {});
      expect([reply.status, reply.headers.allow]).toEqual([405, "PUT"]);
    }
    expect((await send("PUT", "/accounts", {})).headers.allow).toBe("GET, POST");
  });
});

async function countActs(): Promise<number> {
  return (await listOperators()).length;
}

/** Whom the record of administration names, oldest act first. */
async function listOperators(): Promise<readonly unknown[]> {
  const [{ record } = {}] = await readRows(
    service,
    "SELECT coalesce(to_regclass('ledger_acts'), 'administration_acts')::text AS record",
  );
  const rows = await readRows(
    service,
    `SELECT operator FROM ${String(record)} WHERE ledger_id = $1 ORDER BY number`,
    [ledgerId],
  );
  return rows.map(({ operator }) => operator);
}

test("the record of administration names the API key, and only for what it did", async () => {
  const before = (await listOperators()).length;
  await postAccounts({ glAccountCode: "6700", name: "Recorded" });
  await putRule("GBP", { rate: "1.3" });
  const byKey = (await listOperators()).slice(before);
  // The account, the pair of accounts of GBP, and its rule.
  expect(byKey).toEqual([admin.apiKey, admin.apiKey, admin.apiKey, admin.apiKey]);
  await service.books.changeStatus(ledgerId, "suspended");
  await service.books.changeStatus(ledgerId, "active");
  expect((await listOperators()).slice(before + 4)).not.toContain(admin.apiKey);
});

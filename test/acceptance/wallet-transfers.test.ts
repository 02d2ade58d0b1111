// `wallet transfer`, `wallet list`, `wallet freeze` and `unfreeze`, and the limits of `asset set`, by the built program: what they
// print for people and for programs, in pipes, and how they end.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;
/** Of a key that may freeze wallets. */
let admin: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startBinaryServer();
  const { apiKey, apiSecret } = await server.books.createKey({ scopes });
  // No database, so that administration goes through the API.
  const { LEDGERCTL_DATABASE_URL: _, LEDGERCTL_MASTER_KEY: __, ...service } = server.env;
  admin = { ...service, LEDGERCTL_API_KEY: apiKey, LEDGERCTL_API_SECRET: apiSecret };
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const run = (...args: string[]): Promise<CliResult> => runCli(args, { env: server.env });
const administer = (...args: string[]): Promise<CliResult> => runCli(args, { env: admin });
const usd = ["--asset", "USD"];

async function fund(callerKey: string, amount: string, assetCode = "USD"): Promise<void> {
  await server.client.creditWallet({ ledgerId: server.ledgerId, callerKey }, { amount, assetCode });
}

/** One line on stderr, and nothing on stdout. */
function expectFailure({ code, stdout, stderr }: CliResult, expected: number, text: RegExp): void {
  expect([code, stdout]).toEqual([expected, ""]);
  expect(stderr).toMatch(text);
}

describe("wallet transfer", () => {
  it("moves an amount and shows both wallets, in major units and in smallest ones", async () => {
    await fund("rent payer", "100000");
    const args = ["wallet", "transfer", "rent payer", "landlord"];
    const shown = await run(...args, "650.00", ...usd, "--major", "--external-id", "rent-03");
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    const id = /^transferId +([0-9a-f-]{36})$/m.exec(shown.stdout)?.[1] ?? "";
    expect(shown.stdout.replace(id, "ID")).toBe(
      "status          accepted\n" +
        "transferId      ID\n" +
        "from balance    350.00 USD\n" +
        "from available  350.00 USD\n" +
        "to balance      650.00 USD\n" +
        "to available    650.00 USD\n",
    );
    const again = await run(...args, "65000", ...usd, "--external-id", "rent-03", "--json");
    expect(JSON.parse(again.stdout)).toEqual({
      ...{ status: "duplicate", transferId: id },
      from: { balance: "35000", available: "35000" },
      to: { balance: "65000", available: "65000" },
    });
    const minor = await run(...args, "1", ...usd, "--minor");
    expect(minor.stdout).toMatch(/^from balance +34999$/m);
    const quiet = await run(...args, "1", ...usd, "--quiet");
    expect([quiet.stdout, quiet.stderr]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\n$/), ""]);
  });

  it("shows what it did in the histories of both", async () => {
    await fund("giver", "500");
    const sent = ["wallet", "transfer", "giver", "taker", "200", ...usd, "--metadata", "gift"];
    const { transferId } = JSON.parse((await run(...sent, "--json")).stdout) as {
      transferId: string;
    };
    const history = async (key: string) =>
      documents<object>((await run("wallet", "history", key, "--json")).stdout).at(-1);
    const both = { amount: "200", metadata: "gift", transferId };
    expect(await history("giver")).toMatchObject({
      ...{ ...both, type: "transfer-out", counterparty: "taker", balance: "300" },
    });
    expect(await history("taker")).toMatchObject({
      ...{ ...both, type: "transfer-in", counterparty: "giver", balance: "200" },
    });
    const table = await run("wallet", "history", "taker");
    expect(table.stdout).toMatch(/transfer-in/);
  });

  it("takes whole walletKeys, of one ledger only", async () => {
    await fund("a:b", "10");
    const from = `${server.ledgerId}:a:b`;
    const to = `${server.ledgerId}:c/d ü`;
    const moved = await run("wallet", "transfer", from, to, "4", ...usd, "--json");
    expect(JSON.parse(moved.stdout)).toMatchObject({
      from: { balance: "6" },
      to: { balance: "4" },
    });
    const other = "0190b6a0-0000-7000-8000-000000000001:x";
    const refused = await run("wallet", "transfer", from, other, "1", ...usd);
    expectFailure(refused, 2, /FROM and TO must be of one ledger/);
  });

  it("ends with 6 for a lack of funds and a frozen wallet, 2 for what can't be, 4 for a key that may not", async () => {
    await fund("poor", "5");
    await fund("euros", "5", "EUR");
    const transfer = (...args: string[]) => run("wallet", "transfer", ...args);
    expectFailure(await transfer("poor", "rich", "6", ...usd), 6, /more than is available/);
    const short = await transfer("poor", "rich", "6", ...usd, "--json");
    expect(JSON.parse(short.stderr)).toMatchObject({
      error: { code: "INSUFFICIENT_FUNDS", exit: 6, status: 422 },
    });
    expectFailure(await transfer("poor", "poor", "1", ...usd), 2, /two wallets/);
    expectFailure(await transfer("poor", "euros", "1", ...usd), 2, /must be EUR/);
    expectFailure(await transfer("poor", "rich", "0", ...usd), 2, /above zero/);
    expectFailure(await transfer("poor", "rich", "1.5", ...usd), 2, /whole number/);
    expectFailure(await transfer("poor", "rich", "0.001", ...usd, "--major"), 2, /decimals/);
    expectFailure(await transfer("poor", "", "1", ...usd), 2, /KEY/);
    expectFailure(await transfer("poor", "rich", "1"), 2, /--asset/);
    const reader = await server.books.createKey({ scopes: ["read"] });
    const env = {
      ...server.env,
      LEDGERCTL_API_KEY: reader.apiKey,
      LEDGERCTL_API_SECRET: reader.apiSecret,
    };
    const forbidden = await runCli(["wallet", "transfer", "poor", "rich", "1", ...usd], { env });
    expectFailure(forbidden, 4, /scope/);
  });
});

describe("wallet freeze and unfreeze", () => {
  it("say what they did, and what they found done", async () => {
    await fund("suspect", "1050");
    const shown = await administer("wallet", "freeze", "suspect");
    expect(shown).toEqual({
      code: 0,
      stderr: "",
      stdout: "status     accepted\nfrozen     yes\nbalance    10.50 USD\navailable  10.50 USD\n",
    });
    const again = await administer("wallet", "freeze", "suspect", "--json");
    expect(again.stdout).toBe(
      '{"status":"duplicate","balance":"1050","available":"1050","frozen":true}\n',
    );
    const paying = ["wallet", "transfer", "suspect", "elsewhere", "1", ...usd, "--json"];
    const refused = await run(...paying);
    expect(refused.code).toBe(6);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "WALLET_FROZEN" } });
    const taking = await run("wallet", "credit", "suspect", "1", ...usd, "--quiet");
    expect(taking.stdout).toBe("accepted\n");
    const quiet = await administer("wallet", "unfreeze", "suspect", "--quiet");
    expect([quiet.code, quiet.stdout]).toEqual([0, "accepted\n"]);
    expect((await run(...paying)).code).toBe(0);
    const types = documents<{ type: string }>(
      (await run("wallet", "history", "suspect", "--json")).stdout,
    ).map(({ type }) => type);
    expect(types).toEqual(["credit", "freeze", "credit", "unfreeze", "transfer-out"]);
  });

  it("end with 5 for an unknown wallet and 4 without the scope admin", async () => {
    for (const verb of ["freeze", "unfreeze"]) {
      expectFailure(await administer("wallet", verb, "nobody"), 5, /nothing was ever written/);
      const forbidden = await run("wallet", verb, "suspect");
      expectFailure(
        forbidden,
        4,
        /lacks the scope admin\n {2}Use a key with that scope: `ledgerctl key create/,
      );
    }
  });
});

describe("wallet list", () => {
  const list = (...args: string[]) => run("wallet", "list", ...args);

  beforeAll(async () => {
    const writes = Array.from({ length: 120 }, (_, index) => ({
      ...{ type: "credit" as const, callerKey: `list-${String(index).padStart(3, "0")}` },
      ...{ amount: String(100 + index), assetCode: index % 2 === 0 ? "USD" : "POINTS" },
    }));
    await server.client.writeWallets(server.ledgerId, writes);
  });

  it("shows 50 to people, says that there are more, and all with --limit 0", async () => {
    const shown = await list("--prefix", "list-");
    expect(shown.stdout.trimEnd().split("\n")).toHaveLength(51);
    expect(shown.stdout).toMatch(/^list-000 +1\.00 USD +1\.00 USD +0\.00 USD +1 /m);
    expect(shown.stdout).toMatch(/^list-001 +101 POINTS +101 POINTS +0 POINTS +1 /m);
    expect(shown.stderr).toBe("there are more: --limit 0 lists everything\n");
    const all = await list("--prefix", "list-", "--limit", "0");
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(121);
    expect(all.stderr).toBe("");
  });

  it("gives programs the API's objects, one a line, all unless told", async () => {
    const { stdout, stderr } = await list("--prefix", "list-", "--json");
    const wallets = documents<Record<string, unknown>>(stdout);
    expect([wallets.length, stderr]).toEqual([120, ""]);
    expect(wallets[7]).toEqual({
      ...{ callerKey: "list-007", assetCode: "POINTS", balance: "107", available: "107" },
      ...{ held: "0", seq: 1 },
      createdAt: expect.stringMatching(/Z$/) as string,
      updatedAt: expect.stringMatching(/Z$/) as string,
    });
    const some = await list("--prefix", "list-", "--asset", "POINTS", "--limit", "3", "--json");
    expect(documents<{ callerKey: string }>(some.stdout).map(({ callerKey }) => callerKey)).toEqual(
      ["list-001", "list-003", "list-005"],
    );
  });

  it("prints CSV with the same members", async () => {
    const { stdout } = await list("--prefix", "list-11", "--csv");
    const [header, first, ...others] = stdout.trimEnd().split("\n");
    expect(header).toBe(
      "callerKey,assetCode,balance,available,held,seq,createdAt,updatedAt,frozenAt",
    );
    expect(first).toMatch(/^list-110,USD,210,210,0,1,[^,]+Z,[^,]+Z,$/);
    expect(others).toHaveLength(9);
  });

  it("finds nothing without a failure, and refuses filters that can't be", async () => {
    expect(await list("--prefix", "nothing begins so", "--json")).toEqual({
      ...{ code: 0, stdout: "", stderr: "" },
    });
    expectFailure(await list("--asset", "$"), 2, /--asset/);
    expectFailure(await list("--limit", "-1"), 2, /--limit/);
  });
});

describe("limits of asset set", () => {
  /** In UTC, as limits of a day have it. */
  const today = () => new Date().toISOString().slice(0, 10);

  it("hold for credits and transfers, are listed, and end", async () => {
    const limits = ["--max-balance", "1000", "--daily-debit-max", "300"];
    const set = await administer("asset", "set", "COIN", ...limits, "--json");
    expect(JSON.parse(set.stdout)).toMatchObject({ maxBalance: "1000", dailyDebitMax: "300" });
    const coin = ["--asset", "COIN"];
    expectFailure(await run("wallet", "credit", "purse", "1001", ...coin), 6, /1000, the most/);
    let purse = "";
    const over = await until("a transfer and a debit on one day", async () => {
      const day = today();
      purse = `purse of ${day}`;
      const other = `other purse of ${day}`;
      await fund(purse, "1000", "COIN");
      await fund(other, "950", "COIN");
      const transfer = (amount: string) => run("wallet", "transfer", purse, other, amount, ...coin);
      expectFailure(await transfer("51"), 6, /1000, the most/);
      expect((await transfer("50")).code).toBe(0);
      const debit = await run("wallet", "debit", purse, "251", ...coin);
      // At midnight the limit begins anew.
      return today() === day && debit;
    });
    expectFailure(over, 6, /300 would be taken out/);
    const none = ["--max-balance", "none", "--daily-debit-max", "none"];
    expect((await administer("asset", "set", "COIN", ...none)).code).toBe(0);
    expect((await run("wallet", "debit", purse, "251", ...coin)).code).toBe(0);
    const refused = await administer("asset", "set", "COIN", "--max-balance", "1.5");
    expectFailure(refused, 2, /--max-balance must be a whole number of smallest units/);
  });
});

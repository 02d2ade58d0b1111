// `asset` on the database, with a server that posts by the rules it makes. The built binary runs each verb, and more of
// their cases run here.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

interface Asset {
  assetCode: string;
  rate: string | null;
  exponent: number;
  walletsAccount: string;
  clearingAccount: string;
  overdraftLimit: string;
  pending: string;
}

let server: BinaryServer;
const nobody = "0190b6a0-0000-7000-8000-000000000001";

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const run = (args: readonly string[]): Promise<CliResult> => runHere(args, server.env);
const runBuilt = (args: readonly string[]): Promise<CliResult> => runCli(args, server);

async function findAsset(code: string): Promise<Asset | undefined> {
  const { stdout } = await run(["asset", "list", "--json"]);
  return documents<Asset>(stdout).find(({ assetCode }) => assetCode === code);
}

const wallet = (callerKey: string) => ({ ledgerId: server.ledgerId, callerKey });
const credit = (key: string, amount: string, assetCode: string) =>
  server.client.creditWallet(wallet(key), { amount, assetCode });
/** Reads a balance until it is what is expected, or there is an account at all. */
const pollBalance = (account: string) =>
  expect.poll(() => server.client.getBalance(server.ledgerId, { account }));

const eur: Asset = {
  assetCode: "EUR",
  rate: null,
  exponent: 2,
  walletsAccount: "wallets:EUR",
  clearingAccount: "wallets-clearing:EUR",
  overdraftLimit: "0",
  pending: "0",
};

describe("the rules of assets", () => {
  it("lists none before an asset is used", async () => {
    const none = { code: 0, stdout: "", stderr: "none\n" };
    expect(await runBuilt(["asset", "list"])).toEqual(none);
  });

  it("lists a currency that waits for its rate, and what waits; given one, it is posted", async () => {
    await credit("e", "1000", "EUR");
    expect(await findAsset("EUR")).toEqual({ ...eur, pending: "1000" });
    const asked = await run(["doctor"]);
    expect(asked.code).toBe(1);
    expect(asked.stdout).toMatch(
      /FAIL  postings +what wallets accepted waits for a rate: EUR in ledger [-0-9a-f]{36}\n +Set it with /,
    );
    const set = await runBuilt(["asset", "set", "eur", "--rate", "1.0845", "--json"]);
    expect([set.code, set.stderr]).toEqual([0, ""]);
    expect(JSON.parse(set.stdout)).toMatchObject({
      assetCode: "EUR",
      rate: "1.0845",
    });
    // 1000 × 1.0845 = 1084.5, half to even.
    await pollBalance("wallets:EUR").toMatchObject({ balance: -1084n, currency: "USD" });
    expect(await findAsset("EUR")).toEqual({ ...eur, rate: "1.0845" });
  });

  it("changes what is named and keeps the rest, and shows major units to people", async () => {
    await run(["asset", "set", "GOLD", "--exponent", "3", "--overdraft", "2500"]);
    const set = await run(["asset", "set", "GOLD", "--rate", "60"]);
    expect(set).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "assetCode        GOLD",
        "rate             60",
        "exponent         3",
        "walletsAccount   wallets:GOLD",
        "clearingAccount  wallets-clearing:GOLD",
        "overdraftLimit   2500",
        "pending          0",
        "",
      ].join("\n"),
    });
    const list = await run(["asset", "list"]);
    expect(list.stdout).toMatch(/^ASSET +RATE +EXPONENT +WALLETS ACCOUNT +CLEARING ACCOUNT +OVER/);
    expect(list.stdout).toMatch(/^GOLD +60 +3 +wallets:GOLD +\S+ +2\.500 GOLD +0\.000 GOLD$/m);
    expect((await run(["asset", "set", "GOLD", "--overdraft", "0", "-q"])).stdout).toBe("GOLD\n");
  });

  it("lets wallets go below zero as far as it says", async () => {
    await run(["asset", "set", "CREDITS", "--overdraft", "100"]);
    const debit = (amount: string) =>
      server.client.debitWallet(wallet("spender"), { amount, assetCode: "CREDITS" });
    await expect(debit("101")).rejects.toMatchObject({ status: 422 });
    expect(await debit("100")).toMatchObject({ balance: "-100" });
  });

  it("posts to the accounts that it names", async () => {
    await run(["asset", "set", "MILES", "--wallets-account", "2000", "--clearing-account", "5000"]);
    await credit("flyer", "70", "MILES");
    await pollBalance("2000").toMatchObject({ balance: -70n });
    expect(await findAsset("MILES")).toMatchObject({ walletsAccount: "2000" });
    const deactivated = await run(["account", "deactivate", "2000"]);
    expect(deactivated.code).toBe(6);
    expect(deactivated.stderr).toContain("MILES");
  });

  it("ends with 5 for a ledger or an account that is not there, naming the flag", async () => {
    const account = await run(["asset", "set", "EUR", "--clearing-account", "nowhere"]);
    expect([account.code, account.stdout]).toEqual([5, ""]);
    expect(account.stderr).toContain("no account nowhere, which --clearing-account names");
    for (const args of [["list"], ["set", "EUR", "--rate", "1"]]) {
      const ledger = await run(["asset", ...args, "--ledger", nobody]);
      expect(ledger).toMatchObject({ code: 5, stdout: "" });
    }
    expect(await findAsset("EUR")).toMatchObject({ rate: "1.0845" });
  });
});
